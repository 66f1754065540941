"""Numbers: arithmetic and comparison."""

from __future__ import annotations

import operator
from collections.abc import Callable

from plait.scripts.ale import numbers
from plait.scripts.ale.kinds import Value
from plait.scripts.ale.limits import Meter

from .shelf import Shelf

shelf = Shelf()


@shelf.put("+", least=0)
def add(meter: Meter, *args: Value) -> Value:
    return _fold(meter, operator.add, 0, args)


@shelf.put("*", least=0)
def multiply(meter: Meter, *args: Value) -> Value:
    return _fold(meter, operator.mul, 1, args)


def _fold(meter: Meter, operation: Callable[[Value, Value], Value], start: int, args: tuple[Value, ...]) -> Value:
    if not args:
        return start
    meter.visit(len(args) - 1)
    result = numbers.check(args[0])
    for arg in args[1:]:
        result = numbers.exactly(operation, result, arg)
    return result


@shelf.put("-", least=1)
def subtract(meter: Meter, first: Value, *others: Value) -> Value:
    if not others:
        return numbers.tidy(-numbers.check(first))
    return _fold(meter, operator.sub, 0, (first, *others))


@shelf.put("/", least=1)
def divide(meter: Meter, first: Value, *others: Value) -> Value:
    meter.visit(len(others))
    if not others:
        return numbers.divide(1, first)
    for other in others:
        first = numbers.divide(first, other)
    return first


@shelf.put("mod", "modulo", least=2)
def modulo(meter: Meter, first: Value, *others: Value) -> Value:
    meter.visit(len(others))
    for other in others:
        first = numbers.modulo(first, other)
    return first


@shelf.put("inc", least=1, most=1)
def increment(_: Meter, value: Value) -> Value:
    return numbers.exactly(operator.add, value, 1)


@shelf.put("dec", least=1, most=1)
def decrement(_: Meter, value: Value) -> Value:
    return numbers.exactly(operator.sub, value, 1)


def _comparison(compare: Callable[[Value, Value], bool]) -> Callable[..., bool]:
    def compare_all(meter: Meter, *args: Value) -> bool:
        meter.visit(len(args))
        for arg in args:
            numbers.check(arg)
        return all(map(compare, args, args[1:]))

    return compare_all


equal = shelf.put("=", least=1)(_comparison(operator.eq))
shelf.put("<", least=1)(_comparison(operator.lt))
shelf.put("<=", least=1)(_comparison(operator.le))
shelf.put(">", least=1)(_comparison(operator.gt))
shelf.put(">=", least=1)(_comparison(operator.ge))


@shelf.put("!=", least=1)
def unequal(meter: Meter, *args: Value) -> bool:
    return not equal(meter, *args)
