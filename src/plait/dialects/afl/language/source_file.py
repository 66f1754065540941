"""A file of a program, and its text as the compiler reads it. Lines and columns count from 1, in code points."""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

import msgspec

_BOM = "\ufeff"


class SourceFile(msgspec.Struct, frozen=True):
    """`name` is what diagnostics call it."""

    name: str
    text: str


class Place(NamedTuple):
    line: int
    column: int


class SourceText:
    """The text with LF line ends and without a byte order mark, which takes no column."""

    def __init__(self, file: SourceFile) -> None:
        self.name = file.name
        self.text = file.text.removeprefix(_BOM).replace("\r\n", "\n")
        self._starts: list[int] | None = None

    def place(self, offset: int) -> Place:
        starts = self._lines()
        line = bisect_right(starts, offset)
        return Place(line, offset - starts[line - 1] + 1)

    def offset(self, place: Place) -> int:
        """The nearest existing offset."""
        starts = self._lines()
        line = min(max(place.line, 1), len(starts))
        return min(starts[line - 1] + max(place.column, 1) - 1, len(self.text))

    def line(self, number: int) -> str:
        starts = self._lines()
        if not 1 <= number <= len(starts):
            return ""
        end = starts[number] if number < len(starts) else len(self.text)
        return self.text[starts[number - 1] : end].rstrip("\n")

    def _lines(self) -> list[int]:
        if self._starts is None:
            starts = [0]
            at = self.text.find("\n")
            while at >= 0:
                starts.append(at + 1)
                at = self.text.find("\n", at + 1)
            self._starts = starts
        return self._starts


_COLUMNS = 1 << 24


class RecordedPlaces(SourceText):
    """Places of a program that was sent compiled: there is no text, so an offset encodes a line and a column."""

    def __init__(self, name: str) -> None:
        super().__init__(SourceFile(name, ""))

    def place(self, offset: int) -> Place:
        return Place(max(offset // _COLUMNS, 1), max(offset % _COLUMNS, 1))

    def offset(self, place: Place) -> int:
        return place.line * _COLUMNS + place.column
