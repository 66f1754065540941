"""Regular expressions of RFC 9485 (I-Regexp), matched in linear time: a pattern may come from anyone.

That language has no anchors, groups that capture or look-around: what it has, RE2 has too, but for the meaning of a
few characters.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import re2 as _re2  # pyright: ignore[reportMissingTypeStubs]

re2: Any = _re2  # it has no types

MAX_PATTERN = 1_000
"""Characters."""
_MAX_MEMORY = 8 * 1024 * 1024

_PARTS = re.compile(r"\(\?|\\(?:[pP]\{[^}]*\}|.)|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.DOTALL)
_ESCAPES = frozenset("()*+,-.?[\\]^nrt{|}$")
_PLAIN = {".": r"[^\n\r]", "^": r"\^", "$": r"\$"}


class NotARegexp(Exception):
    """The pattern is none of RFC 9485; the message says why."""


@lru_cache(256)
def compiled(pattern: str) -> Any:
    """With `fullmatch` and `search`. Raises `NotARegexp`."""
    if len(pattern) > MAX_PATTERN:
        raise NotARegexp(f"it has {len(pattern):,} characters, {MAX_PATTERN:,} are allowed")
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MAX_MEMORY
    try:
        return re2.compile("".join(map(_translated, _PARTS.findall(pattern))), options)
    except re2.error as error:
        raise NotARegexp(_reason(error)) from None


def matches(text: object, pattern: object, *, whole: bool) -> bool:
    """Whether a text, or a part of it, is what a pattern says. What is no text or no pattern does not match."""
    if not isinstance(text, str) or not isinstance(pattern, str):
        return False
    try:
        found = compiled(pattern)
    except NotARegexp:
        return False
    return (found.fullmatch(text) if whole else found.search(text)) is not None


def _translated(part: str) -> str:
    if part == "\\" or (part[0] == "\\" and part[1] not in _ESCAPES and part[1] not in "pP"):
        raise NotARegexp(f"{part} is no escape")
    if part == "(?":
        raise NotARegexp("groups have no flags")
    return _PLAIN.get(part, part)


def _reason(error: Exception) -> str:
    told = error.args[0] if error.args else ""
    return told.decode(errors="replace") if isinstance(told, bytes) else str(told)
