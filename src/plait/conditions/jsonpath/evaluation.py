"""One evaluation of a query: the document, the steps that are left, and how values compare.

A step is a node looked at, or an element compared.
"""

from __future__ import annotations

from typing import Any, cast

from .errors import JsonPathBudget


class _Nothing:
    """RFC 9535's `Nothing`: what a query that selects no node stands for in a comparison. Equal to itself only."""

    __slots__ = ()


NOTHING = _Nothing()


class Run:
    """Mutable on purpose: it is read at every step."""

    __slots__ = ("_left", "root")

    def __init__(self, root: Any, steps: int) -> None:
        self.root = root
        self._left = steps

    def take(self, steps: int) -> None:
        self._left -= steps
        if self._left < 0:
            raise JsonPathBudget

    def equal(self, left: Any, right: Any) -> bool:
        """JSON's equality: numbers by value, no boolean is a number, all else by its parts."""
        self.take(1)
        if isinstance(left, bool) or isinstance(right, bool):
            return left is right
        if isinstance(left, dict) and isinstance(right, dict):
            ours, theirs = cast("dict[str, Any]", left), cast("dict[str, Any]", right)
            return ours.keys() == theirs.keys() and all(self.equal(item, theirs[key]) for key, item in ours.items())
        if isinstance(left, list) and isinstance(right, list):
            pair = cast("list[Any]", left), cast("list[Any]", right)
            return len(pair[0]) == len(pair[1]) and all(map(self.equal, *pair))
        return left == right

    def less(self, left: Any, right: Any) -> bool:
        """Only numbers among themselves and strings among themselves have an order."""
        self.take(1)
        if isinstance(left, str) and isinstance(right, str):
            return left < right
        return _is_number(left) and _is_number(right) and left < right


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
