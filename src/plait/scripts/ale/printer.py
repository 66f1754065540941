"""Values as text.

A value may be nested deeply, or share parts so often that its text would never end; so pending work is kept on a list,
and the length is checked as it grows. Lazy sequences must have been realized before.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import count
from sys import getsizeof

from .kinds import (
    Builtin,
    Key,
    Keyword,
    Lazy,
    List,
    Object,
    Pair,
    Procedure,
    Set,
    Symbol,
    Value,
    Vector,
    of_key,
)
from .limits import Meter

_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"})
_unlike_any = count()


class _Mark(str):
    """Text that is written verbatim between values."""

    __slots__ = ()


_SPACE, _DOT, _CLOSE = _Mark(" "), _Mark(" . "), {mark: _Mark(mark) for mark in ")]}"}


def printed(meter: Meter, value: Value) -> str:
    """The text as written in a script."""
    return _write(meter, value, canonical=False)


def canonical(meter: Meter, value: Value) -> str:
    """A text that is the same for two values exactly if they are `eq`."""
    return _write(meter, value, canonical=True)


def _write(meter: Meter, value: Value, *, canonical: bool) -> str:
    out: list[str] = []
    length = 0
    work: list[Value] = [value]
    while work:
        item = work.pop()
        if type(item) is _Mark:
            text = str(item)
        else:
            meter.visit(1)
            text = _atom(item, canonical=canonical)
            if text is None:
                text, parts = _open(meter, item)
                work.extend(reversed(parts))
        out.append(text)
        length += len(text)
        meter.fits(length)
    result = "".join(out)
    meter.hold(getsizeof(result))
    return result


def _atom(value: Value, *, canonical: bool) -> str | None:
    """The text of a value without parts; None if it has parts."""
    match value:
        case str():
            return f'"{value.translate(_ESCAPES)}"'
        case None:
            return "()"
        case bool():
            return "#t" if value else "#f"
        case float():
            return _exact(value) if canonical else _float(value)
        case int() | Fraction():
            return str(value)
        case Keyword():
            return f":{value.name}"
        case Symbol():
            return value.name
        case Procedure() | Builtin():
            return f"~{id(value)}" if canonical else f"#<procedure {value.name}>"
        case Lazy() if canonical:
            return f"~{id(value)}"
        case _:
            return None


def _float(value: float) -> str:
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "+inf" if value > 0 else "-inf"
    return repr(value)


def _exact(value: float) -> str:
    """Distinct from every other kind; zero has one sign, and NaN equals nothing, not even itself."""
    return f"~nan{next(_unlike_any)}" if math.isnan(value) else f"~{value or 0.0!r}"


def _open(meter: Meter, value: Value) -> tuple[str, list[Value]]:
    """The opening bracket of a collection, and what follows it."""
    match value:
        case Vector():
            return "[", _spaced(meter, iter(value.all()), len(value), "]")
        case List():
            return "(", _spaced(meter, iter(value), value.count, ")")
        case Lazy():
            return "(", _spaced(meter, cells(value), 0, ")")
        case Set():
            return "#{", _spaced(meter, map(of_key, _sorted(value.entries)), len(value.entries), "}")
        case Object():
            flat = (part for key in _sorted(value.entries) for part in (of_key(key), value.entries[key]))
            return "{", _spaced(meter, flat, 2 * len(value.entries), "}")
        case Pair():
            tail = value.tail
            if type(tail) is Pair:  # (1 2 . 3): the tail continues without a bracket of its own
                return "(", [value.head, _SPACE, *_rest_of(tail), _CLOSE[")"]]
            return "(", [value.head, _DOT, tail, _CLOSE[")"]]
        case _:
            raise AssertionError(value)


def _rest_of(pair: Pair) -> Iterator[Value]:
    while True:
        yield pair.head
        if type(pair.tail) is not Pair:
            break
        yield _SPACE
        pair = pair.tail
    yield _DOT
    yield pair.tail


def cells(lazy: Lazy) -> Iterator[Value]:
    """The elements of a lazy sequence that has been realized."""
    while lazy.cell:
        yield lazy.cell[0]
        lazy = lazy.cell[1]


def _spaced(meter: Meter, items: Iterator[Value], count: int, close: str) -> list[Value]:
    meter.fits(count)
    parts: list[Value] = []
    for item in items:
        parts += (item, _SPACE)
    if parts:
        parts.pop()
    parts.append(_CLOSE[close])
    return parts


def _sorted(entries: dict[Value, Value]) -> list[Value]:
    return sorted(entries, key=_order)


def _order(key: Value) -> str:
    if type(key) is not Key:
        return _atom(key, canonical=False) or ""
    return _float(key.value) if type(key.value) is float else key.text
