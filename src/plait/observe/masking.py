"""Masks secrets in logs, and makes any value printable.

A value is a secret by its name (`authorization`, `password`, …) or by its form (an API key, a bearer token, a
password in a URL, the signed part of a link).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, cast

HIDDEN = "***"

_NAMES = re.compile(
    r"(?:proxy[-_]?)?authorization|(?:set[-_]?)?cookie|passwd|password|secret|client[-_]?secret|(?:x[-_])?api[-_]?key"
    r"|(?:access|refresh|id|bearer)[-_]?token|private[-_]?key|x[-_]plait[-_]csrf",
    re.IGNORECASE,
)
_LOOKS: list[tuple[re.Pattern[str], str]] = [
    # A key has digits or capitals; metric names also begin with plait_, but have neither
    (re.compile(r"\bplait_(?=[a-z_-]*[0-9A-Z])[A-Za-z0-9_-]{16,}"), f"plait_{HIDDEN}"),
    (re.compile(r"\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{6,}", re.IGNORECASE), rf"\1 {HIDDEN}"),
    (
        re.compile(r"\b(authorization|cookie)(['\"]?\s*[:=]\s*['\"]?)(?!bearer|basic)[^\s'\",;]+", re.I),
        rf"\1\2{HIDDEN}",
    ),
    (re.compile(r"(://[^\s:/@]*:)[^\s@/]+@"), rf"\1{HIDDEN}@"),
    (re.compile(r"(/(?:hooks|approve|links)/)[^\s/?#\"']+"), rf"\1{HIDDEN}"),
]
_CLUES = ("plait_", "earer", "asic", "uthorization", "ookie", "://", "/hooks/", "/approve/", "/links/", "EARER", "ASIC")
"""Every text with a secret by its form has one of these, which most texts don't: a quick first check."""

_DEPTH = 6
_ITEMS = 100
_LENGTH = 16_384


def masked(text: str) -> str:
    """Returns the text with everything that looks like a secret masked."""
    if any(clue in text for clue in _CLUES) or "AUTHORIZATION" in text or "COOKIE" in text:
        for look, instead in _LOOKS:
            text = look.sub(instead, text)
    return text


def clean(value: object, depth: int = _DEPTH) -> Any:
    """Turns any value into one that JSON can represent, of bounded size, without secrets."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, str):
        return _text(value)
    if depth == 0:
        return "…"
    if isinstance(value, Mapping):
        return _clean_mapping(cast("Mapping[object, object]", value), depth)
    if isinstance(value, list | tuple | set | frozenset):
        items = list(cast("list[object]", value))
        rest = [f"… {len(items) - _ITEMS} more"] if len(items) > _ITEMS else []
        return [clean(item, depth - 1) for item in items[:_ITEMS]] + rest
    return _text(printed(value))


def _text(text: str) -> str:
    """Masks a text before cutting it: the first half of a key would not be recognized."""
    return shortened(masked(text[: 2 * _LENGTH]))


def _clean_mapping(value: Mapping[object, object], depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, item in list(value.items())[:_ITEMS]:
        name = printed(key, str)
        found[name] = HIDDEN if _NAMES.fullmatch(name) else clean(item, depth - 1)
    if len(value) > _ITEMS:
        found["…"] = f"{len(value) - _ITEMS} more"
    return found


def printed(value: object, how: Callable[[object], str] = repr) -> str:
    """Returns a value as text, even if printing it raises."""
    try:
        return how(value)
    except Exception as error:
        return f"<{type(value).__name__} that can't be printed: {type(error).__name__}>"


def shortened(text: str, length: int = _LENGTH) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
