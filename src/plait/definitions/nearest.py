"""Finds the name that someone probably meant."""

from __future__ import annotations

import difflib
import heapq
from collections.abc import Iterable

DID_YOU_MEAN = "did you mean"

_CLOSE = 0.6
_LOOKED_AT = 24
"""Maximum number of candidates to compare in full; a comparison is slow, and there may be thousands of names."""


def nearest(wanted: str, known: Iterable[str], close: float = _CLOSE) -> str | None:
    """Returns the most similar name, if any is similar enough; with `close` 0, any is. Compares in full only the names
    that share most pairs of letters."""
    pairs = {wanted[at : at + 2] for at in range(max(len(wanted) - 1, 1))}
    scored = ((len(each) - 2 * sum([pair in each for pair in pairs]), each) for each in known)
    ranked = [each for _, each in heapq.nsmallest(_LOOKED_AT, scored)]
    found = difflib.get_close_matches(wanted, ranked, n=1, cutoff=close)
    return found[0] if found else None


def did_you_mean(wanted: str, known: Iterable[str], otherwise: str) -> str:
    """Returns the fix of an error about an unknown name."""
    found = nearest(wanted, known)
    return f"{DID_YOU_MEAN} `{found}`?" if found is not None else otherwise


def some_of(names: Iterable[str], most: int = 20) -> str:
    """Lists the known names in a message that must stay short."""
    found = sorted(names)
    more = f" and {len(found) - most:,} more" if len(found) > most else ""
    return ", ".join(found[:most]) + more or "none"
