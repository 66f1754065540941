"""The hash of a definition's content: equal definitions have equal hashes, however they were typed.

JSON is hashed in the canonical form of RFC 8785: sorted keys, no spaces, one way to write each number and string.
Integers beyond 2^53 keep all their digits, which the RFC can't express.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any, cast

_EXPONENT_FROM = 1e21
_SMALL_AND_PLAIN = (-5, -6)
"""Exponents for which Python uses scientific notation and JavaScript does not."""


def content_hash(body: Any, source: str = "") -> str:
    """Hashes a definition in JSON, or else its source text; returns hexadecimal."""
    content = canonical(body) if body is not None else source.encode()
    return hashlib.sha256(content).hexdigest()


def canonical(value: Any) -> bytes:
    """Returns the canonical form of a JSON value that has passed `values.encode`."""
    return "".join(_write(value)).encode()


def _write(value: Any) -> Iterator[str]:
    match value:
        case dict():
            yield from _object(cast("dict[str, Any]", value))
        case list() | tuple():
            yield from _array(cast("list[Any]", value))
        case float():
            yield _number(value)
        case _:
            yield json.dumps(value, ensure_ascii=False)


def _object(value: dict[str, Any]) -> Iterator[str]:
    comma = "{"
    for key in sorted(value, key=_utf16):
        yield f"{comma}{json.dumps(key, ensure_ascii=False)}:"
        yield from _write(value[key])
        comma = ","
    yield "}" if value else "{}"


def _array(value: list[Any]) -> Iterator[str]:
    comma = "["
    for item in value:
        yield comma
        yield from _write(item)
        comma = ","
    yield "]" if value else "[]"


def _utf16(key: str) -> bytes:
    """The sort key: the RFC orders keys by UTF-16, as JavaScript does."""
    return key.encode("utf-16-be")


def _number(value: float) -> str:
    """Formats a number as JavaScript does, which differs from Python for whole and for small numbers."""
    if value.is_integer() and abs(value) < _EXPONENT_FROM:
        return str(int(value))
    mantissa, has_exponent, exponent = repr(value).partition("e")
    if not has_exponent:
        return mantissa
    if int(exponent) in _SMALL_AND_PLAIN:
        sign, digits = "-" if value < 0 else "", mantissa.lstrip("-").replace(".", "")
        return f"{sign}0.{'0' * (-int(exponent) - 1)}{digits}"
    return f"{mantissa}e{int(exponent):+d}"
