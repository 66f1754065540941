"""The definition of a run of this dialect: source, or a compiled program, and one of its workflows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plait.kernel.bundle import Reference

from .handlers import Handlers, Registration, Target
from .language.loading import read_sources
from .names import NAME

Source = str | Path | Sequence[str | Path]


@dataclass(frozen=True, slots=True)
class Afl:
    """A definition."""

    definition: Mapping[str, Any]
    """The definition in the form of section 1.1 of the spec."""
    handlers: Handlers = field(default_factory=Handlers, compare=False)
    """Handlers of this definition alone; they take precedence over those of the engine."""

    def reference(self) -> Reference:
        """How JSON refers to this definition."""
        return Reference(NAME, self.definition, self.label)

    @property
    def label(self) -> str:
        """The name shown in lists of runs."""
        found = self.definition.get("workflow")
        return found[:200] if isinstance(found, str) and found else NAME


def afl(
    source: Source,
    workflow: str | None = None,
    libraries: Sequence[str | Path] | None = None,
    handlers: Mapping[str, Target] | None = None,
    *,
    strict: bool = False,
    version: str | None = None,
) -> Afl:
    """A workflow of an AFL program: `await engine.start(afl("mail.afl", "Notify"), {"to": "a@b.org"})`.

    `source` is a file, a directory, a list of those, or the text itself. `handlers` handle its events, by facet; those
    of the engine handle the rest.
    """
    files = [{"name": each.name, "text": each.text} for each in read_sources(source, libraries or ())]
    definition: dict[str, Any] = {"sources": files}
    if workflow is not None:
        definition["workflow"] = workflow
    if strict:
        definition["strict"] = True
    if version is not None:
        definition["version"] = version
    own = Handlers()
    for name, target in (handlers or {}).items():
        own.add(Registration(name, target))
    return Afl(definition, own)
