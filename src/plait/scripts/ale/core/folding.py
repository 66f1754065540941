"""Eager functions that apply a function to each element of a sequence."""

from __future__ import annotations

from plait.scripts.ale.failures import unexpected
from plait.scripts.ale.kinds import Lazy, Suspended, Tail, Value, to_list
from plait.scripts.ale.limits import Meter
from plait.scripts.ale.lookup import MISSING
from plait.scripts.ale.sequences import LIST_BYTES, Walk, check, drain

from .shelf import Shelf

shelf = Shelf()


@shelf.put("fold-left", "foldl", "reduce", least=2, most=3, suspends=True)
def fold_left(meter: Meter, function: Value, *args: Value) -> Suspended:
    walk = Walk(meter, args[-1])
    if len(args) == 2:
        total = args[0]
    elif (yield from walk.next()):
        total = walk.value
    else:
        return Tail(function, ())
    while (yield from walk.next()):
        total = yield function, (total, walk.value)
    return total


@shelf.put("fold-right", "foldr", least=2, most=3, suspends=True)
def fold_right(meter: Meter, function: Value, *args: Value) -> Suspended:
    if type(args[-1]) is Lazy:
        raise unexpected(args[-1], "counted")
    items: list[Value] = []
    yield from drain(meter, args[-1], items)
    total = args[0] if len(args) == 2 else items.pop() if items else MISSING
    if total is MISSING:
        return Tail(function, ())
    while items:
        total = yield function, (items.pop(), total)
    return total


@shelf.put("map!", least=2, most=2, suspends=True)
def map_at_once(meter: Meter, function: Value, sequence: Value) -> Suspended:
    walk = Walk(meter, sequence)
    results: list[Value] = []
    while (yield from walk.next()):
        meter.build(len(results) + 1, LIST_BYTES)
        results.append((yield function, (walk.value,)))
    return to_list(results)


@shelf.put("apply", least=2, suspends=True)
def apply(meter: Meter, function: Value, *args: Value) -> Suspended:
    items = list(args[:-1])
    yield from drain(meter, check(args[-1]), items)
    return Tail(function, tuple(items))


def for_each(meter: Meter, function: Value, sequence: Value) -> Suspended:
    """Runs the special form `for-each` on each of its sequences."""
    walk = Walk(meter, sequence)
    value: Value = None
    while (yield from walk.next()):
        value = yield function, (walk.value,)
    return value
