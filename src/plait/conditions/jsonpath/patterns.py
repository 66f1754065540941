"""Regular expressions of RFC 9485 (I-Regexp).

I-Regexp has no anchors, capturing groups or look-around: everything else is also in RE2, except for the meaning of a
few characters.
"""

from __future__ import annotations

import re
from functools import lru_cache

from plait.conditions.regex import BadPattern, Pattern, check_length

_PARTS = re.compile(r"\(\?|\\(?:[pP]\{[^}]*\}|.)|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.DOTALL)
_ESCAPES = frozenset("()*+,-.?[\\]^nrt{|}$")
_PLAIN = {".": r"[^\n\r]", "^": r"\^", "$": r"\$"}


@lru_cache(256)
def compiled(pattern: str) -> Pattern:
    """Raises `BadPattern`."""
    check_length(pattern)
    return Pattern("".join(map(_translated, _PARTS.findall(pattern))))


def _translated(part: str) -> str:
    if part == "\\" or (part[0] == "\\" and part[1] not in _ESCAPES and part[1] not in "pP"):
        raise BadPattern(f"{part} is no escape")
    if part == "(?":
        raise BadPattern("groups have no flags")
    return _PLAIN.get(part, part)
