"""Predicates on values. Each tests all of its arguments, and has a twin `!name?` that is true if none passes."""

from __future__ import annotations

import math
from collections.abc import Callable

from plait.scripts.ale import numbers
from plait.scripts.ale.kinds import (
    COUNTED,
    INDEXED,
    MAPPED,
    NUMBERS,
    PROCEDURES,
    SEQUENCES,
    Keyword,
    Lazy,
    List,
    Object,
    Pair,
    Set,
    Suspended,
    Symbol,
    Value,
    Vector,
)
from plait.scripts.ale.limits import Meter
from plait.scripts.ale.sequences import check, size

from .shelf import Shelf

shelf = Shelf()

Test = Callable[[Value], bool]


def _is(*kinds: type) -> Test:
    wanted = frozenset(kinds)
    return lambda value: type(value) in wanted


def _number(test: Test) -> Test:
    """A predicate that only accepts numbers."""
    return lambda value: test(numbers.check(value))


_TESTS: dict[str, Test] = {
    "null?": _is(type(None)),
    "boolean?": _is(bool),
    "number?": _is(*NUMBERS),
    "string?": _is(str),
    "keyword?": _is(Keyword),
    "symbol?": _is(Symbol),
    "procedure?": _is(*PROCEDURES),
    "pair?": _is(Pair, *(SEQUENCES - {type(None)})),
    "list?": _is(type(None), List),
    "vector?": _is(Vector),
    "object?": _is(Object),
    "set?": _is(Set),
    "seq?": _is(*SEQUENCES),
    "counted?": _is(*COUNTED),
    "indexed?": _is(*INDEXED),
    "mapped?": _is(*MAPPED),
    "true?": lambda value: value is True,
    "false?": lambda value: value is False,
    "zero?": _number(lambda value: value == 0),
    "even?": _number(lambda value: value % 2 == 0),
    "odd?": _number(lambda value: value % 2 == 1),
    "nan?": lambda value: type(value) is float and math.isnan(value),
    "inf?": _number(lambda value: value == math.inf),
    "-inf?": _number(lambda value: value == -math.inf),
}


def _of_all(test: Test, expected: bool) -> Callable[..., bool]:
    def ask(meter: Meter, *args: Value) -> bool:
        meter.visit(len(args))
        return all(test(arg) is expected for arg in args)

    return ask


for _name, _test in _TESTS.items():
    shelf.put(_name, least=1)(_of_all(_test, True))
    shelf.put(f"!{_name}", least=1)(_of_all(_test, False))


def _emptiness(expected: bool) -> Callable[..., Suspended]:
    def ask(meter: Meter, *args: Value) -> Suspended:
        for arg in args:
            meter.visit(1)
            if type(check(arg)) is Lazy:
                empty = not (arg.cell if arg.cell is not None else (yield arg))
            else:
                empty = not size(arg)
            if empty is not expected:
                return False
        return True

    return ask


shelf.put("empty?", least=1, suspends=True)(_emptiness(True))
shelf.put("!empty?", least=1, suspends=True)(_emptiness(False))
