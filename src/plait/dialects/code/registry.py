"""The workflows an engine has loaded, by name and version."""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType
from typing import Any

from plait.definitions.nearest import did_you_mean
from plait.kernel.errors import InvalidInput, NotFound

from .definition import Workflow, is_workflow, label_of

AnyWorkflow = Workflow[..., Any]


class Registry:
    def __init__(self, definitions: Iterable[object] = ()) -> None:
        self._loaded: dict[tuple[str, str | None], AnyWorkflow] = {}
        self.find = self._loaded.get
        """Looks up a workflow by name and version; returns None if it is not loaded."""
        self.labels: set[str] = set()
        for definition in definitions:
            self.add(definition)

    def add(self, definition: object) -> None:
        """Adds a workflow, or every workflow of a module."""
        if isinstance(definition, ModuleType):
            for found in vars(definition).values():
                if is_workflow(found):
                    self._add(found)
        elif is_workflow(definition):
            self._add(definition)
        else:
            raise InvalidInput(
                "CODE_NOT_LOADED",
                f"{definition!r} is not a workflow",
                fix="mark the function with @workflow, or pass the module that has them",
            )

    def _add(self, definition: AnyWorkflow) -> None:
        key = (definition.name, definition.version)
        known = self._loaded.get(key)
        if known is not None and known is not definition and known.where != definition.where:
            raise InvalidInput(
                "CODE_DUPLICATE_DEFINITION",
                f"`{definition.label}` is in {known.where} and {definition.where}",
                fix="set `name=` or `version=` on one of them",
            )
        self._loaded[key] = definition
        self.labels.add(label_of(*key))

    def all(self) -> list[AnyWorkflow]:
        return list(self._loaded.values())

    def get(self, label: str) -> AnyWorkflow:
        """Looks up a workflow by `name` or `name@version`, for callers that only have text."""
        name, _, version = label.partition("@")
        found = self._loaded.get((name, version or None))
        if found is None:
            raise self.not_loaded(label)
        return found

    def not_loaded(self, label: str) -> NotFound:
        loaded = sorted(definition.label for definition in self._loaded.values())
        return NotFound(
            "CODE_NOT_LOADED",
            f"no workflow `{label}`",
            why=f"loaded: {', '.join(loaded) or 'none'}",
            fix=did_you_mean(label, loaded, "give it to Engine(definitions=[...])"),
        )
