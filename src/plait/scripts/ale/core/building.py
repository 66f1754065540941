"""Functions that build and extend collections."""

from __future__ import annotations

from collections.abc import Callable
from sys import getsizeof

from plait.scripts.ale import keys
from plait.scripts.ale.failures import odd_object, unexpected
from plait.scripts.ale.kinds import Lazy, List, Object, Pair, Set, Suspended, Value, Vector, pair, to_list, to_vector
from plait.scripts.ale.limits import Meter
from plait.scripts.ale.sequences import ENTRY_BYTES, LAZY_BYTES, LIST_BYTES, SLOT_BYTES, drain

from .shelf import Shelf

shelf = Shelf()


@shelf.put("list", least=0)
def make_list(meter: Meter, *items: Value) -> Value:
    meter.visit(len(items))
    meter.build(len(items), LIST_BYTES)
    return to_list(items)


@shelf.put("vector", least=0)
def make_vector(meter: Meter, *items: Value) -> Value:
    meter.visit(len(items))
    meter.build(len(items), SLOT_BYTES)
    return to_vector(items)


@shelf.put("set", least=0)
def make_set(meter: Meter, *items: Value) -> Value:
    meter.visit(len(items))
    meter.build(len(items), ENTRY_BYTES)
    return Set(dict.fromkeys(keys.as_key(meter, item) for item in items))


@shelf.put("object", least=0)
def make_object(meter: Meter, *items: Value) -> Value:
    if len(items) % 2:
        raise odd_object()
    meter.visit(len(items))
    meter.build(len(items), ENTRY_BYTES)
    return Object(keys.entries(meter, items))


def make_pair(meter: Meter, *items: Value) -> Value:
    """`(a b . c)` as a literal: the last of the items is the tail."""
    meter.build(len(items), LIST_BYTES)
    result = items[-1]
    for item in reversed(items[:-1]):
        result = pair(item, result)
    return result


def _from_sequences(make: Callable[..., Value]) -> Callable[..., Suspended]:
    def convert(meter: Meter, *sequences: Value) -> Suspended:
        items: list[Value] = []
        for sequence in sequences:
            yield from drain(meter, sequence, items)
        return make(meter, *items)

    return convert


shelf.put("seq->list", least=1, suspends=True)(_from_sequences(make_list))
shelf.put("seq->vector", least=1, suspends=True)(_from_sequences(make_vector))
shelf.put("seq->set", least=1, suspends=True)(_from_sequences(make_set))
shelf.put("seq->object", least=1, suspends=True)(_from_sequences(make_object))


@shelf.put("cons", least=2, most=2)
def cons(meter: Meter, item: Value, rest: Value) -> Value:
    match rest:
        case None | List():
            meter.hold(LIST_BYTES)
            meter.fits(1 if rest is None else rest.count + 1)
            return List(item, rest)
        case Vector():
            meter.build(len(rest) + 1, SLOT_BYTES)
            return to_vector((item, *rest.all()))
        case Lazy():
            meter.hold(LAZY_BYTES)
            return Lazy(None, (item, rest))
        case _:
            meter.hold(LIST_BYTES)
            return Pair(item, rest)


@shelf.put("append", least=2, most=2)
def append(meter: Meter, whole: Value, item: Value) -> Value:
    match whole:
        case Vector():
            return _to_end(meter, whole, item)
        case Set():
            lease = meter.lease(len(whole.entries) + 1, ENTRY_BYTES)
            return Set({**whole.entries, keys.as_key(meter, item): None}, lease)
        case str():
            if type(item) is not str:
                raise unexpected(item, "string")
            meter.fits(len(whole) + len(item))
            meter.hold(getsizeof(whole) + getsizeof(item))
            return whole + item
        case _:
            raise unexpected(whole, "vector, set or string")


def _to_end(meter: Meter, whole: Vector, item: Value) -> Vector:
    """Costs one slot if the items can be shared, else a copy."""
    meter.fits(len(whole) + 1)
    shares = type(whole.items) is list and whole.stop == len(whole.items)
    meter.hold(2 * SLOT_BYTES + 56 if shares else (len(whole) + 1) * SLOT_BYTES + 56)
    return whole.appended(item)


@shelf.put("conj", least=2, most=2)
def conj(meter: Meter, whole: Value, item: Value) -> Value:
    match whole:
        case None | List() | Lazy():
            return cons(meter, item, whole)
        case Object():
            return assoc(meter, whole, item)
        case _:
            return append(meter, whole, item)


@shelf.put("assoc", least=2, most=2)
def assoc(meter: Meter, whole: Value, entry: Value) -> Value:
    entries = _entries(whole)
    match entry:
        case Pair() | List():
            key, value = entry.head, entry.tail
        case Vector() if len(entry) == 2:
            key, value = entry.all()
        case _:
            raise unexpected(entry, "pair")
    lease = meter.lease(len(entries) + 1, ENTRY_BYTES)
    return Object({**entries, keys.as_key(meter, key): value}, lease)


@shelf.put("dissoc", least=2, most=2)
def dissoc(meter: Meter, whole: Value, key: Value) -> Value:
    entries = _entries(whole)
    gone = keys.as_key(meter, key)
    if gone not in entries:
        return whole
    lease = meter.lease(len(entries), ENTRY_BYTES)
    rest = dict(entries)
    del rest[gone]
    return Object(rest, lease)


def _entries(whole: Value) -> dict[Value, Value]:
    if type(whole) is not Object:
        raise unexpected(whole, "object")
    return whole.entries


def _in_turn(add: Callable[[Meter, Value, Value], Value]) -> Callable[..., Value]:
    def add_all(meter: Meter, whole: Value, *items: Value) -> Value:
        meter.visit(len(items))
        for item in items:
            whole = add(meter, whole, item)
        return whole

    return add_all


shelf.put("cons*", least=1)(_in_turn(lambda meter, whole, item: cons(meter, item, whole)))
shelf.put("append*", least=1)(_in_turn(append))
shelf.put("conj*", least=1)(_in_turn(conj))
shelf.put("assoc*", least=1)(_in_turn(assoc))
shelf.put("dissoc*", least=1)(_in_turn(dissoc))
