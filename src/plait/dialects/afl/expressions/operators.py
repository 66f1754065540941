"""The operators of AFL on JSON values."""

from __future__ import annotations

import math
from typing import Any, cast

from .errors import ExpressionError

_MIN, _MAX = -(2**63), 2**63 - 1


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def arithmetic(operator: str, left: Any, right: Any) -> int | float:
    for value in (left, right):
        if not is_number(value):
            raise ExpressionError(f"'{operator}' needs numbers, got {kind_of(value)}")
    if operator in "/%" and right == 0:
        raise ExpressionError("Division by zero")
    try:
        result = _computed(operator, left, right)
    except OverflowError:
        raise ExpressionError(f"The result of '{operator}' is too large") from None
    return within_range(result, operator)


def _computed(operator: str, left: Any, right: Any) -> int | float:
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/":
            return left / right
        case _:
            return left % right


def within_range(result: int | float, operator: str) -> int | float:
    if isinstance(result, int):
        if not _MIN <= result <= _MAX:
            raise ExpressionError(f"The result of '{operator}' has more than 64 bits")
    elif not math.isfinite(result):
        raise ExpressionError(f"The result of '{operator}' is too large")
    return result


def equal(left: Any, right: Any) -> bool:
    """Deep equality; 1 equals 1.0, and a boolean never equals a number."""
    if isinstance(left, bool) or isinstance(right, bool):
        return isinstance(left, bool) and isinstance(right, bool) and left == right
    if isinstance(left, dict) and isinstance(right, dict):
        one, other = cast("dict[str, Any]", left), cast("dict[str, Any]", right)
        return one.keys() == other.keys() and all(equal(value, other[key]) for key, value in one.items())
    if isinstance(left, list) and isinstance(right, list):
        ones, others = cast("list[Any]", left), cast("list[Any]", right)
        return len(ones) == len(others) and all(map(equal, ones, others))
    return bool(left == right)


def compare(operator: str, left: Any, right: Any) -> bool:
    comparable = (is_number(left) and is_number(right)) or (isinstance(left, str) and isinstance(right, str))
    if not comparable:
        raise ExpressionError(
            f"'{operator}' needs two numbers or two strings, got {kind_of(left)} and {kind_of(right)}"
        )
    match operator:
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return left > right
        case _:
            return left >= right


def truth(value: Any, operator: str) -> bool:
    """Null counts as false."""
    if value is None:
        return False
    if not isinstance(value, bool):
        raise ExpressionError(f"'{operator}' needs true or false, got {kind_of(value)}")
    return value


def contains(holder: Any, item: Any, operator: str) -> bool:
    match holder:
        case list():
            return any(equal(each, item) for each in cast("list[Any]", holder))
        case dict():
            return isinstance(item, str) and item in holder
        case str() if isinstance(item, str):
            return item in holder
        case _:
            raise ExpressionError(f"'{operator}' can't look for {kind_of(item)} in {kind_of(holder)}")


def matches(operator: str, left: Any, right: Any) -> bool:
    if not (isinstance(left, str) and isinstance(right, str)):
        raise ExpressionError(f"'{operator}' needs two strings, got {kind_of(left)} and {kind_of(right)}")
    return left.startswith(right) if operator == "startsWith" else left.endswith(right)


def kind_of(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "a list"
        case _:
            return "a map"
