"""The id that someone probably meant."""

from __future__ import annotations

import difflib
import heapq
from collections.abc import Iterable

_CLOSE = 0.6
_LOOKED_AT = 24


def nearest(wanted: str, known: Iterable[str]) -> str | None:
    """The most similar id, if any is similar. Only those that share most pairs of letters are compared in full."""
    pairs = {wanted[at : at + 2] for at in range(max(len(wanted) - 1, 1))}
    scored = ((len(each) - 2 * sum([pair in each for pair in pairs]), each) for each in known)
    ranked = [each for _, each in heapq.nsmallest(_LOOKED_AT, scored)]
    found = difflib.get_close_matches(wanted, ranked, n=1, cutoff=_CLOSE)
    return found[0] if found else None
