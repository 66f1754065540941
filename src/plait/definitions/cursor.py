"""Reads one JSON object that people wrote, field by field, and notes each flaw instead of stopping at it.

    cursor = Cursor(sent)
    cursor.only(("nodes", "name"))
    for node in cursor.objects("nodes"):
        node.text("id", required=True)                  # noted as /nodes/0/id
    if cursor.notes:
        raise InvalidDefinition("graph.invalid", cursor.notes)

A field that is absent, null or empty has its default; a wrong one is noted and has its default too, so that reading
continues and one answer names every flaw.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar, cast

from .flaws import MOST, Note, escape
from .nearest import nearest

S = TypeVar("S", bound=str)


class Cursor:
    """One object of the document, with its place there and the list that collects the flaws of the whole document."""

    def __init__(self, data: dict[str, Any], pointer: str = "", notes: list[Note] | None = None) -> None:
        self.data = data
        self.pointer = pointer
        self.notes: list[Note] = [] if notes is None else notes

    @property
    def full(self) -> bool:
        """Whether enough flaws are noted, so that the rest need not be read."""
        return len(self.notes) >= MOST

    def note(self, field: str, what: str, fix: str, code: str = "") -> None:
        """Notes a flaw. `code`: the dialect's code for this kind of flaw, if it is not that of the whole."""
        self.notes.append(Note(self.at(field), what, fix, code))

    def at(self, field: str) -> str:
        return f"{self.pointer}/{escape(field)}" if field else self.pointer

    def inside(self, field: str) -> Cursor:
        """Returns a cursor for notes on parts of a field."""
        return Cursor({}, self.at(field), self.notes)

    def has(self, field: str) -> bool:
        """Whether the field is present and not empty: clients of other languages send empty values for absent ones."""
        value = self.data.get(field)
        return value is not None and value is not False and value != "" and value != 0

    def only(self, known: Iterable[str]) -> None:
        """Notes unknown fields: most are typing errors."""
        known = sorted(known)
        for field in self.data:
            if field not in known and not self.full:
                meant = nearest(field, known)
                advice = f"did you mean '{meant}'?" if meant is not None else "remove it;"
                self.note(field, f"unknown field '{field}'", f"{advice} known: {', '.join(known)}")

    def text(self, field: str, *, required: bool = False) -> str:
        value = self.data.get(field)
        if isinstance(value, str) and (value or not required):
            return value
        if value is not None and not isinstance(value, str):
            self._wrong(field, "a string")
        elif required:
            self.note(field, f"'{field}' is missing", "add it")
        return ""

    def number(self, field: str, default: int = 0) -> int:
        value = self.data.get(field)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        if value is not None:
            self._wrong(field, "a whole number")
        return default

    def flag(self, field: str, default: bool = False) -> bool:
        value = self.data.get(field)
        if isinstance(value, bool):
            return value
        if value is not None:
            self._wrong(field, "true or false")
        return default

    def choice(self, field: str, allowed: Sequence[S]) -> S:
        """Reads one of the allowed words; the first is the default."""
        value = self.data.get(field)
        if value is None or value == "":
            return allowed[0]
        if value in allowed:
            return cast("S", value)
        shown = value if isinstance(value, str) else _name(value)
        self.note(field, f"'{field}' is '{shown}'", f"use {_one_of(allowed)}")
        return allowed[0]

    def child(self, field: str) -> Cursor | None:
        """Returns a cursor for the object in a field, if there is one."""
        value = self.data.get(field)
        if isinstance(value, dict):
            return Cursor(cast("dict[str, Any]", value), self.at(field), self.notes)
        if value is not None:
            self._wrong(field, "an object")
        return None

    def items(self, field: str) -> list[Any]:
        value = self.data.get(field)
        if isinstance(value, list | tuple):
            return list(cast("Sequence[Any]", value))
        if value is not None:
            self._wrong(field, "a list")
        return []

    def objects(self, field: str) -> list[Cursor]:
        """Reads a list of objects, each with its own place; notes and leaves out items of other types."""
        found: list[Cursor] = []
        place = self.inside(field)
        for index, item in enumerate(self.items(field)):
            if isinstance(item, dict):
                found.append(Cursor(cast("dict[str, Any]", item), place.at(str(index)), self.notes))
            else:
                place.note(str(index), f"item {index} of '{field}' is {_name(item)}", "use an object")
        return found

    def names(self, field: str) -> list[str]:
        """Reads a list of strings; notes and leaves out items of other types."""
        found: list[str] = []
        for index, item in enumerate(self.items(field)):
            if isinstance(item, str):
                found.append(item)
            else:
                self.inside(field).note(str(index), f"item {index} of '{field}' is {_name(item)}", "use a string")
        return found

    def texts(self, field: str) -> dict[str, str]:
        """Reads an object of strings."""
        inner = self.child(field)
        return {key: inner.text(key) for key in inner.data} if inner is not None else {}

    def _wrong(self, field: str, wanted: str) -> None:
        self.note(field, f"'{field}' is {_name(self.data[field])}", f"use {wanted}")


def _one_of(allowed: Sequence[str]) -> str:
    *most, last = (f"'{each}'" for each in allowed)
    return f"{', '.join(most)} or {last}" if most else last


def _name(value: object) -> str:
    match value:
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case dict():
            return "an object"
        case list() | tuple():
            return "a list"
        case _:
            return "null" if value is None else f"a {type(value).__name__}"
