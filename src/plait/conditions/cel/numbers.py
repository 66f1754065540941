"""Arithmetic with one type of number: integers are exact up to 64 bits, and mix freely with floats."""

from __future__ import annotations

import math
import re
from typing import Any

from .errors import CelError

_NUMBERS = frozenset((int, float))
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1
_TEXT = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,9})?", re.ASCII)
_LONGEST = 400
"""Longest text, in characters, that can be a number."""


def fitting(number: int | float) -> int | float:
    """Returns the result if it is within bounds."""
    if type(number) is int:
        if _LEAST <= number <= _MOST:
            return number
    elif math.isfinite(number):
        return number
    raise overflow()


def divided(left: int | float, right: int | float) -> int | float:
    """Real division, exact where the quotient is an integer."""
    if right == 0:
        raise CelError("div_zero", "division by zero")
    if type(left) is int and type(right) is int and left % right == 0:
        return fitting(left // right)
    return fitting(left / right)


def remainder(left: int | float, right: int | float) -> int:
    """Has the sign of the dividend, as in CEL."""
    dividend, divisor = whole(left, "`%`"), whole(right, "`%`")
    if divisor == 0:
        raise CelError("div_zero", "division by zero in `%`")
    rest = abs(dividend) % abs(divisor)
    return -rest if dividend < 0 else rest


def whole(number: int | float, where: str) -> int:
    """The number as an integer; 2.0 is one."""
    if type(number) is not int and not float(number).is_integer():
        raise CelError("type_mismatch", f"{where} needs integers, and got a fraction")
    return int(fitting(int(number)))


def truncated(number: int | float) -> int:
    return int(fitting(int(number)))


def parsed(text: str) -> int | float:
    if len(text) > _LONGEST or not _TEXT.fullmatch(text):
        raise CelError("type_mismatch", "this string is not a number")
    return fitting(int(text) if text.lstrip("+-").isdecimal() else float(text))


def text_of(number: int | float) -> str:
    fit = fitting(number)
    if type(fit) is float and fit.is_integer() and _LEAST <= fit <= _MOST:
        return str(int(fit))
    return repr(fit)


def overflow() -> CelError:
    return CelError("overflow", "a number is beyond 64-bit integers and finite fractions")


def is_number(value: Any) -> bool:
    return type(value) in _NUMBERS
