"""One evaluation of a query: the document, and the remaining steps.

Steps bound the time on any machine; the time limit is for cases that steps don't cover.
"""

from __future__ import annotations

from time import monotonic
from typing import Any

from plait.conditions.budget import Budget

from .errors import JsonPathBudget, JsonPathTimeout

_BETWEEN_LOOKS = 1_000
"""Steps between checks of the clock."""


class _Nothing:
    """RFC 9535's `Nothing`: the value of a query without a match in a comparison. Equal only to itself."""

    __slots__ = ()


NOTHING = _Nothing()


class Run(Budget):
    """Mutable on purpose: it is updated at every step."""

    __slots__ = ("_end", "_look_at", "_seconds", "root")

    def __init__(self, root: Any, steps: int, seconds: float) -> None:
        super().__init__(steps)
        self.root = root
        self._look_at = max(0, steps - _BETWEEN_LOOKS)
        self._seconds = seconds
        self._end = monotonic() + seconds

    def take(self, steps: int) -> None:
        self.left -= steps
        if self.left < self._look_at:
            self._look()

    def _look(self) -> None:
        if self.left < 0:
            raise JsonPathBudget
        if monotonic() > self._end:
            raise JsonPathTimeout(self._seconds)
        self._look_at = max(0, self.left - _BETWEEN_LOOKS)
