"""Splits a text into tokens, without spaces and comments."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from .errors import AleSyntaxError, Place

_TOKEN = re.compile(
    r"""
      (?P<space>[ \t\n\r\f]+)
    | (?P<comment>;[^\n]*)
    | (?P<block>\#\|)
    | (?P<bracket>\#\{|[()\[\]{}])
    | (?P<quote>')
    | (?P<string>")
    | (?P<later>`|,@?|@)
    | (?P<atom>[^()\[\]{}" \t\n\r\f]+)
    """,
    re.VERBOSE,
)
_BLOCK_MARK = re.compile(r"#\||\|#")
_STRING_PART = re.compile(r'[^"\\]*')
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "s": " "}


class Token(NamedTuple):
    """`text` is the content of a string, and the source text of everything else."""

    kind: str
    text: str
    place: Place


class Places:
    """Finds the line and column of an offset in a text."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]

    def at(self, offset: int) -> Place:
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


def tokens(text: str) -> Iterator[Token]:
    places = Places(text)
    offset = 0
    while offset < len(text):
        found = _TOKEN.match(text, offset)
        assert found is not None, "the last alternative takes any character that the others leave"
        name, start, offset = found.lastgroup, offset, found.end()
        if name == "space" or name == "comment":
            continue
        place = places.at(start)
        if name == "block":
            offset = _end_of_block(text, offset, place)
        elif name == "string":
            content, offset = _string(text, offset, place)
            yield Token("string", content, place)
        elif name == "later":
            raise AleSyntaxError("not_yet", f"syntax quote and macros are not supported yet: {found[0]}", place)
        else:
            yield Token(str(name), found[0], place)


def _end_of_block(text: str, offset: int, place: Place) -> int:
    depth = 1
    for mark in _BLOCK_MARK.finditer(text, offset):
        depth += 1 if mark[0] == "#|" else -1
        if not depth:
            return mark.end()
    raise AleSyntaxError("syntax", "block comment is not closed", place)


def _string(text: str, offset: int, place: Place) -> tuple[str, int]:
    parts: list[str] = []
    while True:
        found = _STRING_PART.match(text, offset)
        assert found is not None, "it matches the empty text too"
        parts.append(found[0])
        offset = found.end()
        if offset >= len(text) or (text[offset] == "\\" and offset + 1 >= len(text)):
            raise AleSyntaxError("syntax", "string is not closed", place)
        if text[offset] == '"':
            return "".join(parts), offset + 1
        escaped = text[offset + 1]
        parts.append(_ESCAPES.get(escaped, escaped))
        offset += 2
