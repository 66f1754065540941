"""Equality and negation."""

from __future__ import annotations

from plait.scripts.ale.equality import eq
from plait.scripts.ale.kinds import Value
from plait.scripts.ale.limits import Meter

from .shelf import Shelf

shelf = Shelf()


@shelf.put("eq", least=1)
def same(meter: Meter, first: Value, *others: Value) -> bool:
    return all(eq(meter, first, other) for other in others)


@shelf.put("!eq", least=1)
def different(meter: Meter, *args: Value) -> bool:
    return not same(meter, *args)


@shelf.put("not", least=1, most=1)
def negate(_: Meter, value: Value) -> bool:
    return value is False
