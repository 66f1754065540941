"""Functions that access or query parts of collections."""

from __future__ import annotations

from plait.scripts.ale.equality import eq
from plait.scripts.ale.errors import AleRuntimeError
from plait.scripts.ale.failures import out_of_bounds, unexpected
from plait.scripts.ale.kinds import MAPPED, SEQUENCES, Lazy, List, Object, Pair, Set, Suspended, Value, Vector, to_list
from plait.scripts.ale.limits import Meter
from plait.scripts.ale.lookup import MISSING, check_index, check_indexed, element, find
from plait.scripts.ale.sequences import ENTRY_BYTES, LIST_BYTES, SLOT_BYTES, Walk, check, drain, elements, size

from .shelf import Shelf

shelf = Shelf()


@shelf.put("car", "first", least=1, most=1, suspends=True)
def first(meter: Meter, whole: Value) -> Value:
    match whole:
        case List() | Pair():
            return whole.head
        case Vector():
            return whole.items[whole.start] if len(whole) else None
        case None:
            return None
        case Lazy():
            return _first_of_lazy(whole)
        case str():
            return whole[0] if whole else None
        case Object() | Set():
            return next(elements(whole), None)
        case _:
            raise unexpected(whole, "sequence")


def _first_of_lazy(whole: Lazy) -> Value:
    if whole.cell is not None:
        return whole.cell[0] if whole.cell else None
    return _first_when_known(whole)


def _first_when_known(whole: Lazy) -> Suspended:
    cell = yield whole
    return cell[0] if cell else None


@shelf.put("cdr", "rest", least=1, most=1, suspends=True)
def rest(meter: Meter, whole: Value) -> Value:
    match whole:
        case List() | Pair():
            return whole.tail
        case Vector():
            return whole.slice(1, len(whole)) if len(whole) else whole
        case None:
            return None
        case Lazy():
            return _rest_of_lazy(whole)
        case str():
            meter.hold(len(whole))
            return whole[1:]
        case Object() | Set():
            lease = meter.lease(len(whole.entries), ENTRY_BYTES)
            return type(whole)(dict(list(whole.entries.items())[1:]), lease)
        case _:
            raise unexpected(whole, "sequence")


def _rest_of_lazy(whole: Lazy) -> Suspended:
    cell = whole.cell if whole.cell is not None else (yield whole)
    return cell[1] if cell else whole


@shelf.put("nth", least=2, most=3)
def nth(meter: Meter, whole: Value, index: Value, default: Value = MISSING) -> Value:
    found = element(meter, whole, index)
    return _or(found, default)


@shelf.put("nth!", least=2, most=3, suspends=True)
def nth_of_any(meter: Meter, whole: Value, index: Value, default: Value = MISSING) -> Value:
    return _nth_of_lazy(meter, whole, index, default) if type(whole) is Lazy else nth(meter, whole, index, default)


def _nth_of_lazy(meter: Meter, whole: Value, index: Value, default: Value) -> Suspended:
    walk = Walk(meter, whole)
    left = check_index(index)
    while left >= 0 and (yield from walk.next()):
        if not left:
            return walk.value
        left -= 1
    return _or(MISSING, default)


def _or(found: Value, default: Value) -> Value:
    if found is not MISSING:
        return found
    if default is MISSING:
        raise out_of_bounds()
    return default


@shelf.put("get", least=2, most=3)
def get(meter: Meter, whole: Value, key: Value, default: Value = MISSING) -> Value:
    found = find(meter, whole, key)
    if found is not MISSING:
        return found
    if default is MISSING:
        raise AleRuntimeError("key_not_found", "key not found")
    return default


@shelf.put("contains?", least=2, most=2)
def contains(meter: Meter, whole: Value, key: Value) -> bool:
    return type(whole) in MAPPED and find(meter, whole, key) is not MISSING


@shelf.put("length", least=1, most=1)
def length(_: Meter, whole: Value) -> int:
    return size(whole)


@shelf.put("length!", least=1, most=1, suspends=True)
def length_of_any(meter: Meter, whole: Value) -> Value:
    return _length_of_lazy(meter, whole) if type(whole) is Lazy else size(check(whole))


def _length_of_lazy(meter: Meter, whole: Lazy) -> Suspended:
    walk = Walk(meter, whole)
    count = 0
    while (yield from walk.next()):
        count += 1
    return count


@shelf.put("last", least=1, most=1)
def last(meter: Meter, whole: Value) -> Value:
    found = element(meter, check_indexed(whole), size(whole) - 1)
    return None if found is MISSING else found


@shelf.put("last!", least=1, most=1, suspends=True)
def last_of_any(meter: Meter, whole: Value) -> Suspended:
    walk = Walk(meter, whole)
    value: Value = None
    while (yield from walk.next()):
        value = walk.value
    return value


@shelf.put("reverse", least=1, most=1)
def reverse(meter: Meter, whole: Value) -> Value:
    check_indexed(whole)
    meter.visit(size(whole))
    match whole:
        case List():
            return _reversed_list(meter, list(whole))
        case Vector():
            meter.build(len(whole), SLOT_BYTES)
            items = whole.all()[::-1]
            return Vector(items, 0, len(items))
        case str():
            meter.hold(len(whole))
            return whole[::-1]
        case _:
            return None


@shelf.put("reverse!", least=1, most=1, suspends=True)
def reverse_any(meter: Meter, whole: Value) -> Value:
    match whole:
        case Lazy():
            return _reversed_lazy(meter, whole)
        case Object():
            entries = whole.entries
            meter.build(len(entries), ENTRY_BYTES)
            return Object(dict(reversed(entries.items())))
        case Set():
            meter.build(len(whole.entries), ENTRY_BYTES)
            return Set(dict.fromkeys(reversed(whole.entries)))
        case _:
            return reverse(meter, check(whole))


def _reversed_lazy(meter: Meter, whole: Lazy) -> Suspended:
    items: list[Value] = []
    yield from drain(meter, whole, items)
    return _reversed_list(meter, items)


def _reversed_list(meter: Meter, items: list[Value]) -> Value:
    meter.build(len(items), LIST_BYTES)
    return to_list(items[::-1])


@shelf.put("index-of", least=2, most=2, suspends=True)
def index_of(meter: Meter, whole: Value, wanted: Value) -> Suspended:
    walk = Walk(meter, whole)
    index = 0
    while (yield from walk.next()):
        if eq(meter, walk.value, wanted):
            return index
        index += 1
    return False


@shelf.put("seq", least=1, most=1, suspends=True)
def seq(meter: Meter, value: Value) -> Value:
    if type(value) is Lazy:
        return _seq_of_lazy(value)
    return value if type(value) in SEQUENCES and size(value) else False


@shelf.put("seq!", least=1, most=1, suspends=True)
def seq_or_raise(meter: Meter, value: Value) -> Value:
    return seq(meter, check(value))


def _seq_of_lazy(value: Lazy) -> Suspended:
    cell = value.cell if value.cell is not None else (yield value)
    return value if cell else False
