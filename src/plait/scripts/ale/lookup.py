"""Finds elements by key and by position."""

from __future__ import annotations

from . import keys
from .errors import AleRuntimeError
from .failures import unexpected
from .kinds import INDEXED, Lazy, List, Object, Set, Value, Vector, to_list
from .limits import Meter
from .sequences import LIST_BYTES, size

MISSING = object()


def find(meter: Meter, whole: Value, key: Value) -> Value:
    """The value of a key in a mapped collection; an element of a set is its own value. `MISSING` if it is not there."""
    match whole:
        case Object():
            return whole.entries.get(keys.as_key(meter, key), MISSING)
        case Set():
            return key if keys.as_key(meter, key) in whole.entries else MISSING
        case _:
            raise unexpected(whole, "mapped")


def element(meter: Meter, whole: Value, index: Value) -> Value:
    """The element at a position of an indexed sequence; `MISSING` outside."""
    check_index(index)
    check_indexed(whole)
    if not 0 <= index < size(whole):
        return MISSING
    match whole:
        case List():
            meter.visit(index)
            for _ in range(index):
                whole = whole.tail
            return whole.head
        case Vector():
            return whole.items[whole.start + index]
        case _:
            return whole[index]


def slice_of(meter: Meter, whole: Value, start: Value, stop: Value = MISSING) -> Value:
    """The elements of an indexed sequence from one position up to, not including, another, or to the end."""
    count = size(whole)
    if not 0 <= check_index(start) <= count:
        raise AleRuntimeError("bad_slice", f"{start} is an invalid start index")
    if stop is MISSING:
        stop = count
    elif not start <= check_index(stop) <= count:
        raise AleRuntimeError("bad_slice", f"{start} and {stop} are not valid start/end indices")
    match whole:
        case Vector():
            return whole.slice(start, stop)
        case List():
            return _slice_of_list(meter, whole, start, stop)
        case str():
            meter.hold(stop - start)
            return whole[start:stop]
        case _:
            return None


def _slice_of_list(meter: Meter, whole: List, start: int, stop: int) -> Value:
    meter.visit(stop)
    rest: List | None = whole
    for _ in range(start):
        rest = rest and rest.tail
    if rest is None or stop == whole.count:
        return rest
    meter.build(stop - start, LIST_BYTES)
    return to_list([item for _, item in zip(range(stop - start), rest, strict=False)])


def check_index(value: Value) -> int:
    if type(value) is not int:
        raise unexpected(value, "integer")
    return value


def check_indexed(value: Value) -> Value:
    if type(value) not in INDEXED:
        raise unexpected(value, "counted" if type(value) is Lazy else "indexed")
    return value
