"""The limit of one evaluation, counted in steps: a verdict must not depend on the machine.

A step is a node visited or an element compared; longer work, like a long text or a pattern, counts as several.
"""

from __future__ import annotations

from typing import Any, cast

MAX_STEPS = 100_000
"""Default limit of steps for one evaluation."""
_COMPARED_BITS = 10
"""Characters compared in one step, as a power of two."""


class OutOfSteps(Exception):
    """The evaluation needed more steps than allowed."""


class Budget:
    """Mutable on purpose: it is updated at every step."""

    __slots__ = ("left",)

    def __init__(self, steps: int = MAX_STEPS) -> None:
        self.left: int = steps

    def take(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise OutOfSteps

    def equal(self, left: Any, right: Any) -> bool:
        """JSON's equality: numbers by value, a boolean is not a number, everything else by its parts."""
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
            self.take(len(left) >> _COMPARED_BITS)
        return left == right

    @staticmethod
    def comparable(left: Any, right: Any) -> bool:
        """Only numbers have an order among themselves, and strings among themselves."""
        return (is_number(left) and is_number(right)) or (isinstance(left, str) and isinstance(right, str))

    def less(self, left: Any, right: Any) -> bool:
        """False if they have no order."""
        self.take(1 + (len(left) >> _COMPARED_BITS if isinstance(left, str) else 0))
        return self.comparable(left, right) and left < right


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
