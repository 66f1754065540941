"""One evaluation of a query: the document, the steps that are left, and how values compare.

A step is a node looked at, or an element compared; what takes longer, like a long text or a pattern, counts as several.
So steps bound the time, whatever the machine; the limit of time is for what was not foreseen.
"""

from __future__ import annotations

from time import monotonic
from typing import Any, cast

from .errors import JsonPathBudget, JsonPathTimeout

_BETWEEN_LOOKS = 1_000
"""Steps after which the clock is looked at."""
_TEXT_BITS = 10
"""Characters that are compared in one step, as a power of two."""


class _Nothing:
    """RFC 9535's `Nothing`: what a query that selects no node stands for in a comparison. Equal to itself only."""

    __slots__ = ()


NOTHING = _Nothing()


class Run:
    """Mutable on purpose: it is read at every step."""

    __slots__ = ("_end", "_left", "_look_at", "_seconds", "root")

    def __init__(self, root: Any, steps: int, seconds: float) -> None:
        self.root = root
        self._left = steps
        self._look_at = max(0, steps - _BETWEEN_LOOKS)
        self._seconds = seconds
        self._end = monotonic() + seconds

    def take(self, steps: int) -> None:
        self._left -= steps
        if self._left < self._look_at:
            self._look()

    def _look(self) -> None:
        if self._left < 0:
            raise JsonPathBudget
        if monotonic() > self._end:
            raise JsonPathTimeout(self._seconds)
        self._look_at = max(0, self._left - _BETWEEN_LOOKS)

    def equal(self, left: Any, right: Any) -> bool:
        """JSON's equality: numbers by value, no boolean is a number, all else by its parts."""
        self.take(1)
        if isinstance(left, bool) or isinstance(right, bool):
            return left is right
        if isinstance(left, dict) and isinstance(right, dict):
            ours, theirs = cast("dict[str, Any]", left), cast("dict[str, Any]", right)
            self.take(len(ours))
            return ours.keys() == theirs.keys() and all(self.equal(item, theirs[key]) for key, item in ours.items())
        if isinstance(left, list) and isinstance(right, list):
            pair = cast("list[Any]", left), cast("list[Any]", right)
            return len(pair[0]) == len(pair[1]) and all(map(self.equal, *pair))
        if isinstance(left, str):
            self.take(len(left) >> _TEXT_BITS)
        return left == right

    def less(self, left: Any, right: Any) -> bool:
        """Only numbers among themselves and strings among themselves have an order."""
        self.take(1)
        if isinstance(left, str) and isinstance(right, str):
            self.take(len(left) >> _TEXT_BITS)
            return left < right
        return _is_number(left) and _is_number(right) and left < right


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
