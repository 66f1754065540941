"""Values as keys of a Python dict: two keys are equal exactly if the values are `eq`.

Python treats 1, 1.0 and True as the same key, and can't hash our collections. So those kinds are wrapped and compared
by a canonical text; all other kinds are their own keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from . import printer
from .kinds import Key, Keyword, Symbol, Value
from .limits import Meter

_THEMSELVES = frozenset({str, int, Keyword, Symbol, Fraction, type(None)})


def as_key(meter: Meter, value: Value) -> Value:
    if type(value) in _THEMSELVES:
        return value
    text = printer.canonical(meter, value)
    meter.hold(len(text))
    return Key(text, value)


def entries(meter: Meter, items: Sequence[Value]) -> dict[Value, Value]:
    """Alternating keys and values, as the entries of an object. Of equal keys the first wins."""
    result: dict[Value, Value] = {}
    for index in range(0, len(items), 2):
        result.setdefault(as_key(meter, items[index]), items[index + 1])
    return result
