"""The definition of a run of this dialect: steps, or the name of a saved workflow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, overload

from plait.kernel.bundle import Reference

from .names import NAME, label_of


@dataclass(frozen=True, slots=True)
class Refs:
    """A definition."""

    definition: Mapping[str, Any]
    """The definition as written."""

    def reference(self) -> Reference:
        """How JSON refers to this definition."""
        return Reference(NAME, self.definition, self.label)

    @property
    def label(self) -> str:
        """The name shown in lists of runs."""
        return label_of(self.definition)


@overload
def refs(definition: str, presets: None = None) -> Reference: ...
@overload
def refs(definition: str, presets: Mapping[str, Any]) -> Refs: ...
@overload
def refs(definition: Mapping[str, Any], presets: Mapping[str, Any] | None = None) -> Refs: ...
def refs(definition: str | Mapping[str, Any], presets: Mapping[str, Any] | None = None) -> Refs | Reference:
    """Steps wired by references: `await engine.start(refs({"steps": [...]}), input)`; or a saved workflow by its name,
    `refs("onboard@main")`. `presets` are results of steps that are known in advance."""
    if isinstance(definition, str):
        return Reference(NAME, definition, definition) if not presets else Refs({"use": definition, "presets": presets})
    if not presets:
        return Refs(definition)
    return Refs({**definition, "presets": {**(definition.get("presets") or {}), **presets}})
