"""Iteration over sequences of any kind: all at once, one by one, or from a saved place."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

from .failures import unexpected
from .kinds import SEQUENCES, Lazy, List, Object, Pair, Request, Set, Value, Vector, of_key, pair
from .limits import Meter
from .printer import cells

LAZY_BYTES = 160
LIST_BYTES = 96
SLOT_BYTES = 8
ENTRY_BYTES = 48

Steps = Generator[Request, Any, Any]


def check(value: Value) -> Value:
    if type(value) not in SEQUENCES:
        raise unexpected(value, "sequence")
    return value


def size(value: Value) -> int:
    """The number of elements of a counted sequence."""
    match value:
        case None:
            return 0
        case str() | Vector():
            return len(value)
        case List():
            return value.count
        case Object() | Set():
            return len(value.entries)
        case _:
            raise unexpected(value, "counted")


def elements(value: Value) -> Iterator[Value]:
    """The elements of a counted sequence."""
    match value:
        case None:
            return iter(())
        case Object():
            return (pair(of_key(key), item) for key, item in value.entries.items())
        case Set():
            return map(of_key, value.entries)
        case str() | List() | Vector():
            return iter(value)
        case _:
            raise unexpected(value, "counted")


_END = object()


class Walk:
    """Iterates over a sequence once: `while (yield from walk.next()): use(walk.value)`."""

    __slots__ = ("_items", "_lazy", "_meter", "value")

    def __init__(self, meter: Meter, sequence: Value) -> None:
        self._meter = meter
        self._lazy: Lazy | None = sequence if type(sequence) is Lazy else None
        self._items = iter(()) if self._lazy else elements(check(sequence))
        self.value: Value = None

    def next(self) -> Generator[Request, Any, bool]:
        """Whether there is another element, which `value` then holds."""
        self._meter.visit(1)
        if self._lazy is not None:
            cell = self._lazy.known(self._meter)
            if cell is None:
                cell = yield self._lazy
            if not cell:
                return False
            self.value, self._lazy = cell
            return True
        self.value = next(self._items, _END)
        return self.value is not _END


def drain(meter: Meter, sequence: Value, into: list[Value]) -> Steps:
    """Adds all elements to a list, up to the size limit of a collection."""
    if type(sequence) is not Lazy:
        count = size(check(sequence))
        meter.visit(count)
        meter.build(len(into) + count, SLOT_BYTES)
        into.extend(elements(sequence))
        return
    lazy: Lazy = sequence
    while True:  # like `Walk`, without a generator for each element
        meter.visit(1)
        cell = lazy.known(meter)
        if cell is None:
            cell = yield lazy
        if not cell:
            return
        item, lazy = cell
        into.append(item)
        if len(into) > meter.limits.elements:
            meter.fits(len(into))


class Span:
    """A place in the items of a counted sequence; the items may extend beyond the sequence."""

    __slots__ = ("at", "items", "stop")

    def __init__(self, items: tuple[Value, ...] | list[Value] | str, at: int, stop: int) -> None:
        self.items = items
        self.at = at
        self.stop = stop


Cursor = Span | List | Lazy | None
"""A place in a sequence that can be saved and reused; None is its end."""


def cursor(meter: Meter, sequence: Value) -> Cursor:
    if sequence is None or type(sequence) is List or type(sequence) is Lazy:
        return sequence
    if type(sequence) is Vector:
        items, at, stop = sequence.items, sequence.start, sequence.stop
    elif type(sequence) is str:
        items, at, stop = sequence, 0, len(sequence)
    else:
        meter.visit(size(check(sequence)))
        items = tuple(elements(sequence))
        at, stop = 0, len(items)
    return Span(items, at, stop) if at < stop else None


def uncons(meter: Meter, place: Cursor) -> Generator[Request, Any, tuple[Value, Cursor] | None]:
    """The element at a place, and the next place; None at the end."""
    meter.visit(1)
    match place:
        case None:
            return None
        case Span():
            after = place.at + 1
            return place.items[place.at], Span(place.items, after, place.stop) if after < place.stop else None
        case List():
            return place.head, place.tail
        case Lazy():
            cell = place.known(meter)
            if cell is None:
                cell = yield place
            return cell or None


def realize(meter: Meter, value: Value) -> Steps:
    """Computes everything lazy within a value, so that it can be printed or returned."""
    work: list[Value] = [value]
    while work:
        item = work.pop()
        meter.visit(1)
        match item:
            case Lazy():
                yield from drain(meter, item, [])
                work += cells(item)
            case Vector():
                work += item.all()
            case Object():
                work += map(of_key, item.entries)
                work += item.entries.values()
            case Set() | List():
                work += elements(item)
            case Pair():
                work += (item.tail, item.head)
            case _:
                pass
