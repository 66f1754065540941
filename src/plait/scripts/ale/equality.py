"""`eq`: structural, and strict about types. Nested values are compared with a work list, not by recursion."""

from __future__ import annotations

from typing import cast

from .kinds import Builtin, Lazy, List, Object, Pair, Procedure, Set, Value, Vector
from .limits import Meter

_BY_IDENTITY = frozenset({Procedure, Builtin, Lazy})
_COMPOUND = frozenset({List, Vector, Pair, Object, Set})
_ABSENT = object()


def eq(meter: Meter, left: Value, right: Value) -> bool:
    if type(left) is not type(right):
        return False
    if type(left) not in _COMPOUND:
        return left is right if type(left) in _BY_IDENTITY else left == right
    return _same(meter, [(left, right)])


def _same(meter: Meter, work: list[tuple[Value, Value]]) -> bool:
    while work:
        left, right = work.pop()
        meter.visit(1)
        if type(left) is not type(right):
            return False
        if type(left) in _BY_IDENTITY:
            if left is not right:
                return False
        elif type(left) in _COMPOUND:
            parts = _parts(meter, left, right)
            if parts is None:
                return False
            work += parts
        elif left != right:
            return False
    return True


def _parts(meter: Meter, left: Value, right: Value) -> list[tuple[Value, Value]] | None:
    """The parts to compare; None if the values are already known to differ."""
    match left:
        case Pair():
            return [(left.tail, right.tail), (left.head, right.head)]
        case List():
            if left.count != right.count:
                return None
            meter.visit(left.count)
            return list(zip(left, right, strict=True))
        case Vector():
            if len(left) != len(right):
                return None
            meter.visit(len(left))
            return list(zip(left.all(), right.all(), strict=True))
        case _:
            return _entries(meter, cast("Object | Set", left).entries, right.entries)


def _entries(meter: Meter, left: dict[Value, Value], right: dict[Value, Value]) -> list[tuple[Value, Value]] | None:
    if len(left) != len(right):
        return None
    meter.visit(len(left))
    pairs = [(value, right.get(key, _ABSENT)) for key, value in left.items()]
    return None if any(other is _ABSENT for _, other in pairs) else pairs
