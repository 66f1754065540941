"""The id that someone probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_CLOSE = 0.6
_LOOKED_AT = 24


def nearest(wanted: str, known: Iterable[str]) -> str | None:
    """The most similar id, if any is similar. Only those that share most pairs of letters are compared in full."""
    pairs = _pairs(wanted)
    ranked = sorted(known, key=lambda each: (-2 * len(pairs & _pairs(each)) + len(each), each))[:_LOOKED_AT]
    found = difflib.get_close_matches(wanted, ranked, n=1, cutoff=_CLOSE)
    return found[0] if found else None


def _pairs(text: str) -> set[str]:
    return {text[at : at + 2] for at in range(max(len(text) - 1, 1))}
