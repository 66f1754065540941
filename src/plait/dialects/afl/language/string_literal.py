"""Strings of AFL: between double quotes, over several lines if need be, with the escapes of JSON and `\\xHH`."""

from __future__ import annotations

import re

from .syntax_error import AflSyntaxError

_ESCAPE = re.compile(
    r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})"
    r"|\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})|\\([\"\\/nrtbf])"
)
_PLAIN = {'"': '"', "\\": "\\", "/": "/", "n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_LONE = re.compile("[\ud800-\udfff]")


def string_value(quoted: str, start: int) -> str:
    """The value of a quoted string; unknown escapes stay as written."""
    if "\\" not in quoted:
        return quoted[1:-1]
    value = _ESCAPE.sub(_meant, quoted[1:-1])
    if _LONE.search(value):
        raise AflSyntaxError(
            (start, start + len(quoted)),
            "This string holds half of a surrogate pair",
            r"write both halves, as in \ud83d\ude00",
        )
    return value


def _meant(found: re.Match[str]) -> str:
    high, low, unicode, byte, plain = found.groups()
    if high is not None:
        return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00)
    return _PLAIN[plain] if plain is not None else chr(int(unicode or byte, 16))
