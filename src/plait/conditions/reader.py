"""Reads a condition of any type, and those within it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, cast

from .facts import NAMES, Place
from .findings import Findings, suggestion
from .source import Source
from .test import Test
from .types import cel, when

TYPES: Final = ("cel", "when")


class Reader:
    def __init__(self, place: Place, findings: Findings) -> None:
        self._place: Place = place
        self._names = NAMES[place]
        self._findings = findings
        self.needs_task = False
        self._readers: dict[str, Callable[[Source], Test | None]] = {
            "cel": lambda source: cel.read(source, self._names),
            "when": when.read,
        }

    def read(self, condition: Any, pointer: str) -> Test | None:
        """None if it has flaws, which are noted."""
        if isinstance(condition, str):
            return cel.of_text(condition, pointer, self._findings, self._names)
        if not isinstance(condition, dict):
            self._findings.add(
                "bad_shape", pointer, "a condition is an object with `type`, or a CEL expression as text"
            )
            return None
        return self._of_type(Source(cast("dict[str, Any]", condition), pointer, self._findings))

    def _of_type(self, source: Source) -> Test | None:
        kind = source.fields.get("type")
        if kind is None:
            source.refuse("condition has no `type`", f"use {', '.join(TYPES)}")
            return None
        reader = self._readers.get(kind) if isinstance(kind, str) else None
        if reader is None:
            fix = suggestion(str(kind), TYPES, f"use {', '.join(TYPES)}")
            source.refuse(f'condition type "{kind!s:.40}" is unknown', fix, at="type", code="unknown_type")
            return None
        return reader(source)
