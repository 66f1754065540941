"""Arithmetic: integer -> ratio -> float, exact as long as no float is involved, and within a size limit."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from .errors import AleLimitError, AleRuntimeError
from .failures import unexpected
from .kinds import NUMBERS, Value
from .limits import TOO_BIG

Number = Any
"""int, float or Fraction."""


def check(value: Value) -> Number:
    if type(value) not in NUMBERS:
        raise unexpected(value, "number")
    return value


def tidy(value: Number) -> Number:
    """Checks the limit, and turns an integral ratio into an integer."""
    if type(value) is int:
        if -TOO_BIG < value < TOO_BIG:
            return value
    elif type(value) is float:
        return value
    elif value.denominator == 1:
        return tidy(value.numerator)
    elif value.denominator < TOO_BIG and -TOO_BIG < value.numerator < TOO_BIG:
        return value
    raise AleLimitError("number_too_large", "number too large")


def as_float(value: Number) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _floating(left: Value, right: Value) -> bool:
    check(left)
    check(right)
    return type(left) is float or type(right) is float


def exactly(operation: Callable[[Number, Number], Number], left: Value, right: Value) -> Number:
    """Applies +, - or * after converting both to one kind."""
    if type(left) is int and type(right) is int:
        return tidy(operation(left, right))
    if _floating(left, right):
        return operation(as_float(left), as_float(right))
    return tidy(operation(left, right))


def divide(left: Value, right: Value) -> Number:
    if _floating(left, right):
        return _divide_floats(as_float(left), as_float(right))
    if not right:
        raise AleRuntimeError("divide_by_zero", "divide by zero")
    return tidy(Fraction(left) / right)


def _divide_floats(left: float, right: float) -> float:
    if right:
        return left / right
    if not left or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def modulo(left: Value, right: Value) -> Number:
    if _floating(left, right):
        divisor = as_float(right)
        return as_float(left) % divisor if divisor else math.nan
    if not right:
        raise AleRuntimeError("divide_by_zero", "divide by zero")
    return tidy(left % right)
