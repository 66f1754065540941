"""Lazy sequences: each is a thunk that returns its first element and the sequence of the others."""

from __future__ import annotations

import operator
from collections.abc import Generator
from functools import partial
from typing import Any

from plait.scripts.ale import numbers
from plait.scripts.ale.errors import AleRuntimeError
from plait.scripts.ale.failures import unexpected
from plait.scripts.ale.kinds import Cell, Lazy, Request, Suspended, Thunk, Value, to_list
from plait.scripts.ale.limits import Meter
from plait.scripts.ale.sequences import LAZY_BYTES, LIST_BYTES, Cursor, cursor, uncons

from .shelf import Shelf

shelf = Shelf()

Cells = Generator[Request, Any, Cell]


def lazy(meter: Meter, thunk: Thunk, *, direct: bool = False) -> Lazy:
    meter.fuel -= 1
    meter.room -= LAZY_BYTES
    if meter.fuel < 0 or meter.room < 0:
        meter.visit(0)
        meter.hold(0)
    return Lazy(thunk, direct=direct)


def cursors(meter: Meter, sequences: tuple[Value, ...]) -> tuple[Cursor, ...]:
    return tuple(cursor(meter, sequence) for sequence in sequences)


def _heads(
    meter: Meter, places: tuple[Cursor, ...]
) -> Generator[Request, Any, tuple[tuple[Value, ...], tuple[Cursor, ...]] | None]:
    """The elements at several places and the next places; None if any of them is at its end."""
    items: list[Value] = []
    after: list[Cursor] = []
    for place in places:
        found = yield from uncons(meter, place)
        if found is None:
            return None
        items.append(found[0])
        after.append(found[1])
    return tuple(items), tuple(after)


@shelf.put("map", least=2)
def map_lazily(meter: Meter, function: Value, *sequences: Value) -> Value:
    return lazy(meter, partial(_map, function, cursors(meter, sequences)))


def _map(function: Value, places: tuple[Cursor, ...], meter: Meter) -> Cells:
    found = yield from _heads(meter, places)
    if found is None:
        return ()
    value = yield function, found[0]
    return value, lazy(meter, partial(_map, function, found[1]))


@shelf.put("zip", least=1)
def zip_lazily(meter: Meter, *sequences: Value) -> Value:
    return lazy(meter, partial(_zip, cursors(meter, sequences)))


def _zip(places: tuple[Cursor, ...], meter: Meter) -> Cells:
    found = yield from _heads(meter, places)
    if found is None:
        return ()
    return _listed(meter, found[0]), lazy(meter, partial(_zip, found[1]))


def _listed(meter: Meter, items: tuple[Value, ...] | list[Value]) -> Value:
    meter.build(len(items), LIST_BYTES)
    return to_list(items)


@shelf.put("filter", least=2, most=2)
def filter_lazily(meter: Meter, test: Value, sequence: Value) -> Value:
    return lazy(meter, partial(_filter, test, cursor(meter, sequence)))


def _filter(test: Value, place: Cursor, meter: Meter) -> Cells:
    while True:
        found = yield from uncons(meter, place)
        if found is None:
            return ()
        item, place = found
        if (yield test, (item,)) is not False:
            return item, lazy(meter, partial(_filter, test, place))


@shelf.put("take-while", least=2, most=2)
def take_while(meter: Meter, test: Value, sequence: Value) -> Value:
    return lazy(meter, partial(_take_while, test, cursor(meter, sequence)))


def _take_while(test: Value, place: Cursor, meter: Meter) -> Cells:
    found = yield from uncons(meter, place)
    if found is None or (yield test, (found[0],)) is False:
        return ()
    return found[0], lazy(meter, partial(_take_while, test, found[1]))


@shelf.put("take", least=2, most=2)
def take(meter: Meter, count: Value, sequence: Value) -> Value:
    return lazy(meter, partial(_take, _count(count), cursor(meter, sequence)))


def _take(count: int, place: Cursor, meter: Meter) -> Cells:
    if count <= 0:
        return ()
    found = yield from uncons(meter, place)
    if found is None:
        return ()
    return found[0], lazy(meter, partial(_take, count - 1, found[1]))


@shelf.put("drop", least=2, most=2)
def drop(meter: Meter, count: Value, sequence: Value) -> Value:
    return lazy(meter, partial(_drop, _count(count), cursor(meter, sequence)))


def _drop(count: int, place: Cursor, meter: Meter) -> Cells:
    place = yield from _after(meter, count, place)
    return (yield from _going_on(meter, place))


def _after(meter: Meter, count: int, place: Cursor) -> Generator[Request, Any, Cursor]:
    while count > 0:
        found = yield from uncons(meter, place)
        if found is None:
            return None
        place = found[1]
        count -= 1
    return place


def _going_on(meter: Meter, place: Cursor) -> Cells:
    """The rest of a sequence from a place, as a lazy sequence."""
    found = yield from uncons(meter, place)
    if found is None:
        return ()
    item, after = found
    return item, after if type(after) is Lazy else lazy(meter, partial(_rest, after))


def _rest(place: Cursor, meter: Meter) -> Cells:
    return _going_on(meter, place)


def _count(value: Value) -> int:
    if type(value) is not int:
        raise unexpected(value, "integer")
    return value


@shelf.put("range", least=0, most=3)
def count_up(meter: Meter, *args: Value) -> Value:
    for arg in args:
        if arg is not None:
            numbers.check(arg)
    start, end, step = _bounds(args)
    if not step:
        raise AleRuntimeError("bad_range", "range step must not be zero")
    return lazy(meter, partial(_range, start, end, step), direct=True)


def _bounds(args: tuple[Value, ...]) -> tuple[Value, Value, Value]:
    match args:
        case ():
            return 0, None, 1
        case (end,):
            return 0, end, -1 if end is not None and end < 0 else 1
        case (start, end):
            return numbers.check(start), end, 1
        case _:
            start, end, step = args
            return numbers.check(start), end, numbers.check(step)


def _range(start: Value, end: Value, step: Value, meter: Meter) -> Cell:
    if end is not None and not (start < end if step > 0 else start > end):
        return ()
    after = numbers.exactly(operator.add, start, step)
    return start, lazy(meter, partial(_range, after, end, step), direct=True)


@shelf.put("concat", least=0)
def concat(meter: Meter, *sequences: Value) -> Value:
    return lazy(meter, partial(_concat, None, cursors(meter, sequences), 0))


def _concat(place: Cursor, others: tuple[Cursor, ...], index: int, meter: Meter) -> Cells:
    while (found := (yield from uncons(meter, place))) is None:
        if index == len(others):
            return ()
        place = others[index]
        index += 1
    return found[0], lazy(meter, partial(_concat, found[1], others, index))


@shelf.put("mapcat", least=2)
def mapcat(meter: Meter, function: Value, *sequences: Value) -> Value:
    return lazy(meter, partial(_mapcat, function, None, cursors(meter, sequences)))


def _mapcat(function: Value, inner: Cursor, places: tuple[Cursor, ...], meter: Meter) -> Cells:
    while True:
        found = yield from uncons(meter, inner)
        if found is not None:
            return found[0], lazy(meter, partial(_mapcat, function, found[1], places))
        outer = yield from _heads(meter, places)
        if outer is None:
            return ()
        inner = cursor(meter, (yield function, outer[0]))
        places = outer[1]


@shelf.put("partition", least=2, most=3)
def partition(meter: Meter, count: Value, *args: Value) -> Value:
    step = args[0] if len(args) == 2 else count
    if _count(count) < 1 or _count(step) < 1:
        raise AleRuntimeError("bad_partition", "partition needs a size and a step of 1 or more")
    return lazy(meter, partial(_partition, count, step, cursor(meter, args[-1])))


def _partition(count: int, step: int, place: Cursor, meter: Meter) -> Cells:
    items: list[Value] = []
    end = place
    while len(items) < count:
        found = yield from uncons(meter, end)
        if found is None:
            break
        items.append(found[0])
        end = found[1]
        meter.build(len(items), 0)
    if not items:
        return ()
    after = yield from _after(meter, step, place)
    if (yield from uncons(meter, end)) is None:  # only the elements of this part are left
        after = None
    return _listed(meter, items), lazy(meter, partial(_partition, count, step, after))


@shelf.put("cartesian-product", least=1)
def cartesian_product(meter: Meter, *sequences: Value) -> Value:
    places = cursors(meter, sequences)
    return lazy(meter, partial(_product, places, places))


def _product(starts: tuple[Cursor, ...], places: tuple[Cursor, ...] | None, meter: Meter) -> Cells:
    found = None if places is None else (yield from _heads(meter, places))
    if places is None or found is None:
        return ()
    after = yield from _turned(meter, starts, places, found[1])
    return _listed(meter, found[0]), lazy(meter, partial(_product, starts, after))


def _turned(
    meter: Meter, starts: tuple[Cursor, ...], places: tuple[Cursor, ...], after: tuple[Cursor, ...]
) -> Suspended:
    """Advances the last place; at its end it starts again, and the place before it advances. None if all were at the
    end."""
    for index in range(len(places) - 1, -1, -1):
        if (yield from uncons(meter, after[index])) is not None:
            return (*places[:index], after[index], *starts[index + 1 :])
    return None
