"""Parses the numbers in a text."""

from __future__ import annotations

import math
import re
from fractions import Fraction

from .errors import AleSyntaxError, Place
from .limits import TOO_BIG

_NUMBER_LIKE = re.compile(r"[+-]?[0-9]")
_INTEGER = re.compile(r"[+-]?(?:(?P<hex>0[xX][0-9a-fA-F]+)|(?P<binary>0[bB][01]+)|(?P<octal>0[0-7]+)|0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_RATIO = re.compile(r"([+-]?[0-9]+)/([0-9]+)")
_MAX_DIGITS = 4000
"""Far more than a number within the limit has; Python's own limit is slightly higher."""


def numeral(text: str, place: Place) -> int | float | Fraction | None:
    """The number that the text represents; None if it does not even look like one."""
    if not _NUMBER_LIKE.match(text):
        return None
    if len(text) > _MAX_DIGITS:
        raise AleSyntaxError("number_too_large", "number too large", place)
    if "/" in text:
        return _ratio(text, place)
    lower = text.lower()
    if not lower.lstrip("+-").startswith(("0x", "0b")) and ("." in text or "e" in lower):
        return _float(text, place)
    return _integer(text, place)


def _integer(text: str, place: Place) -> int:
    found = _INTEGER.fullmatch(text)
    if found is None:
        raise AleSyntaxError("bad_number", f"value is not an integer: {text}", place)
    base = {"hex": 16, "binary": 2, "octal": 8}.get(found.lastgroup or "", 10)
    return _within_limit(int(text, base), place)


def _float(text: str, place: Place) -> float:
    if not _FLOAT.fullmatch(text) or not math.isfinite(float(text)):
        raise AleSyntaxError("bad_number", f"value is not a float: {text}", place)
    return float(text)


def _ratio(text: str, place: Place) -> int | Fraction:
    found = _RATIO.fullmatch(text)
    if found is None or not int(found[2]):
        raise AleSyntaxError("bad_number", f"value is not a ratio: {text}", place)
    value = Fraction(_within_limit(int(found[1]), place), _within_limit(int(found[2]), place))
    return value.numerator if value.denominator == 1 else value


def _within_limit(value: int, place: Place) -> int:
    if not -TOO_BIG < value < TOO_BIG:
        raise AleSyntaxError("number_too_large", "number too large", place)
    return value
