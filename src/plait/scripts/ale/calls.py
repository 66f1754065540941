"""Calls whose head is data: a key looks itself up, a collection looks up a key or returns a slice."""

from __future__ import annotations

from .failures import miscounted, unexpected
from .kinds import Keyword, List, Object, Set, Value, Vector
from .limits import Meter
from .lookup import MISSING, element, find, slice_of


def call_data(meter: Meter, head: Value, args: tuple[Value, ...]) -> Value:
    if type(head) is Keyword and len(args) == 1 and type(args[0]) is Object:
        return args[0].entries.get(head)  # by far the most common case
    match head:
        case bool():
            return head
        case Keyword():
            _check_count(args)
            return _or_default(find(meter, args[0], head), args)
        case Object() | Set():
            _check_count(args)
            return _or_default(find(meter, head, args[0]), args)
        case int():
            _check_count(args)
            return _or_default(element(meter, args[0], head), args)
        case Vector() | List() | str() | None:
            _check_count(args)
            return slice_of(meter, head, *args)
        case _:
            raise unexpected(head, "procedure")


def _check_count(args: tuple[Value, ...]) -> None:
    if not 1 <= len(args) <= 2:
        raise miscounted(len(args), 1, 2)


def _or_default(found: Value, args: tuple[Value, ...]) -> Value:
    if found is not MISSING:
        return found
    return args[1] if len(args) == 2 else None
