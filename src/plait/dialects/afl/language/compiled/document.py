"""Reads the JSON of a compiled program, part by part; the first invalid part ends it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from plait.definitions.flaws import escape
from plait.dialects.afl.language.source_file import Place, RecordedPlaces
from plait.dialects.afl.language.tree import Name

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_QUALIFIED = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*", re.ASCII)


class Malformed(Exception):
    """The document is not a compiled program."""

    def __init__(self, pointer: str, what: str) -> None:
        super().__init__(what)
        self.message = f"{pointer or 'The document'} {what}"
        self.hint = "compile it again from its source: plait afl compile"


class Part:
    """An object of the document."""

    def __init__(self, value: Any, pointer: str, places: RecordedPlaces) -> None:
        if not isinstance(value, Mapping):
            raise Malformed(pointer, "is no object")
        self._value = cast("Mapping[str, Any]", value)
        self._pointer = pointer
        self._places = places

    @property
    def type(self) -> str:
        found = self._value.get("type")
        return found if isinstance(found, str) else ""

    def expect(self, type: str) -> None:
        if self.type != type:
            raise self.wrong(f"a {type}")

    def wrong(self, wanted: str) -> Malformed:
        return Malformed(self._pointer, f"is '{self.type}', not {wanted}")

    def too_deep(self) -> Malformed:
        return Malformed(f"{self._pointer[:80]}…", "is nested too deep")

    def in_file(self, places: RecordedPlaces) -> Part:
        return Part(self._value, self._pointer, places)

    def source_name(self) -> str:
        location = self._value.get("location")
        found = cast("Mapping[str, Any]", location).get("sourceId") if isinstance(location, Mapping) else None
        return found if isinstance(found, str) else ""

    def span(self) -> tuple[int, int]:
        location = self._value.get("location")
        if not isinstance(location, Mapping):
            return 0, 0
        found = cast("Mapping[str, Any]", location)
        numbers = [found.get(each) for each in ("line", "column", "endLine", "endColumn")]
        if not all(isinstance(each, int) and 0 <= each < 2**31 for each in numbers):
            raise Malformed(f"{self._pointer}/location", "is no place")
        line, column, end_line, end_column = cast("list[int]", numbers)
        return self._places.offset(Place(line, column)), self._places.offset(Place(end_line, end_column))

    def has(self, field: str) -> bool:
        return self._value.get(field) is not None

    def value(self, field: str) -> Any:
        return self._value.get(field)

    def text(self, field: str, default: str | None = None) -> str:
        found = self._value.get(field, default)
        if not isinstance(found, str):
            raise Malformed(self._at(field), "is no text")
        return found

    def name(self, field: str, *, qualified: bool = False) -> Name:
        found = self.text(field)
        if (_QUALIFIED if qualified else _NAME).fullmatch(found) is None:
            raise Malformed(self._at(field), f"is no name: '{found[:40]}'")
        return Name(*self.span(), found)

    def strings(self, field: str) -> list[str]:
        found = self._list(field)
        for at, each in enumerate(found):
            if not isinstance(each, str) or _QUALIFIED.fullmatch(each) is None:
                raise Malformed(f"{self._at(field)}/{at}", "is no name")
        return cast("list[str]", list(found))

    def part(self, field: str) -> Part:
        return Part(self._value.get(field), self._at(field), self._places)

    def optional(self, field: str) -> Part | None:
        return self.part(field) if self.has(field) else None

    def parts(self, field: str) -> list[Part]:
        return [Part(each, f"{self._at(field)}/{at}", self._places) for at, each in enumerate(self._list(field))]

    def listed(self, field: str) -> list[Part]:
        """The objects of a field that holds one object, or a list of several."""
        if isinstance(self._value.get(field), Mapping):
            return [self.part(field)]
        return self.parts(field)

    def malformed(self, field: str, what: str) -> Malformed:
        return Malformed(self._at(field), what)

    def _list(self, field: str) -> Sequence[Any]:
        found = self._value.get(field)
        if found is None:
            return ()
        if not isinstance(found, list | tuple):
            raise Malformed(self._at(field), "is no list")
        return cast("Sequence[Any]", found)

    def _at(self, field: str) -> str:
        return f"{self._pointer}/{escape(field)}"
