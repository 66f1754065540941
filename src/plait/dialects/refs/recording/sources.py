"""Values that a recording has seen, found again by equality: the input, and the outputs of its steps.

Two values are the same if they are equal as JSON: `1` and `1.0`, but not `1` and `"1"` or `true`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple, cast

SHORTEST_WITHIN: Final = 6
"""The fewest characters of a text that is searched for within another."""
_DEEPEST: Final = 30
"""A reference has at most 32 parts."""
_SHORTEST: Final = 3
_MEANINGLESS: Final = (-1, 0, 1)


class Place(NamedTuple):
    """Where a value was seen, as the path of a reference to it."""

    head: str
    path: tuple[str, ...]
    tool: str
    ended: int
    """Event number from which it was known; 0 for the input."""


class Sources:
    def __init__(self) -> None:
        self._values: dict[bytes, list[Place]] = {}
        self._texts: dict[str, dict[str, list[Place]]] = {}
        """Texts by their first characters."""

    def add(self, head: str, value: Any, tool: str = "", ended: int = 0) -> None:
        prints: dict[int, bytes] = {}
        fingerprint(value, prints)
        for path, each in _subtrees(value):
            if not has_meaning(each):
                continue
            place = Place(head, path, tool, ended)
            self._values.setdefault(prints.get(id(each)) or fingerprint(each), []).append(place)
            if isinstance(each, str) and len(each) >= SHORTEST_WITHIN:
                texts = self._texts.setdefault(each[:SHORTEST_WITHIN], {})
                texts.setdefault(each, []).append(place)

    def same(self, value: Any, before: int) -> list[Place]:
        """The places where this value was seen before event number `before`, the latest first."""
        return _latest(self._values.get(fingerprint(value), ()), before)

    def within(self, text: str, before: int) -> Iterator[tuple[int, str, list[Place]]]:
        """Known texts within this one at word boundaries, with their offsets. They don't overlap: of those that begin
        at the same offset the longest is taken."""
        at = 0
        while at <= len(text) - SHORTEST_WITHIN:
            found = self._longest(text, at, before) if _is_border(text, at) else None
            if found is None:
                at += 1
                continue
            yield at, *found
            at += len(found[0])

    def _longest(self, text: str, at: int, before: int) -> tuple[str, list[Place]] | None:
        known = self._texts.get(text[at : at + SHORTEST_WITHIN], {})
        for each in sorted(known, key=len, reverse=True):
            if len(each) < len(text) and text.startswith(each, at) and _is_border(text, at + len(each)):
                places = _latest(known[each], before)
                if places:
                    return each, places
        return None


def has_meaning(value: Any) -> bool:
    """Whether a match is significant: `true` and `1` are everywhere."""
    match value:
        case None | bool():
            return False
        case str():
            return len(value) >= _SHORTEST
        case int() | float():
            return value not in _MEANINGLESS
        case _:
            return bool(value)


def fingerprint(value: Any, known: dict[int, bytes] | None = None) -> bytes:
    """Equal for equal JSON. `known` collects the fingerprints of the parts, by their identity."""
    match value:
        case dict():
            parts = sorted((key, fingerprint(each, known)) for key, each in cast("dict[str, Any]", value).items())
            text = b"{" + b"".join(_digest(key.encode()) + each for key, each in parts)
        case list():
            text = b"[" + b"".join(fingerprint(each, known) for each in cast("list[Any]", value))
        case bool() | None:
            text = repr(value).encode()
        case int() | float():
            text = b"n" + repr(_number(value)).encode()
        case _:
            text = b"s" + str(value).encode()
    found = _digest(text)
    if known is not None:
        known[id(cast("object", value))] = found
    return found


def _digest(text: bytes) -> bytes:
    return hashlib.blake2b(text, digest_size=16).digest()


def _number(value: float) -> float:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _subtrees(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, value
    if len(path) >= _DEEPEST:
        return
    items: Iterable[tuple[str, Any]] = ()
    if isinstance(value, dict):
        items = cast("Mapping[str, Any]", value).items()
    elif isinstance(value, list):
        items = ((str(index), each) for index, each in enumerate(cast("list[Any]", value)))
    for key, each in items:
        yield from _subtrees(each, (*path, key))


def _latest(places: Iterable[Place], before: int) -> list[Place]:
    return sorted((place for place in places if place.ended < before), key=lambda place: -place.ended)


def _is_border(text: str, at: int) -> bool:
    return not (0 < at < len(text) and _is_word(text[at - 1]) and _is_word(text[at]))


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"
