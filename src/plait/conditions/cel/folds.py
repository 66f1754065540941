"""The macros `all`, `exists`, `exists_one`, `filter` and `map`, over the items of a list or the keys of a map.

They charge the steps of each item before evaluating it, so a nested macro is counted as often as it runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from .errors import CelError
from .evaluation import Run, Value
from .operators import mismatch

_Items = Iterator[None]


class Over:
    """The collection that a macro iterates over. Each item is stored in the variable before the macro's parts are
    evaluated."""

    __slots__ = ("_cost", "_name", "_over", "_slot")

    def __init__(self, over: Value, slot: int, cost: int, name: str) -> None:
        self._over = over
        self._slot = slot
        self._cost = cost
        self._name = name

    def items(self, run: Run) -> _Items:
        found = self._over(run)
        if not isinstance(found, list | dict):
            raise mismatch(f"`{self._name}`", found)
        for item in cast("list[Any]", found):
            run.take(self._cost)
            run.variables[self._slot] = item
            yield

    def holds(self, test: Value, run: Run) -> bool:
        found = test(run)
        if type(found) is not bool:
            raise mismatch(f"the test of `{self._name}`", found)
        return found


def quantified(over: Over, test: Value, decisive: bool) -> Value:
    """`all`, which one false decides, or `exists`, which one true decides; errors in other items then don't matter."""

    def decide(run: Run) -> bool:
        error: CelError | None = None
        for _ in over.items(run):
            try:
                if over.holds(test, run) is decisive:
                    return decisive
            except CelError as found:
                error = error or found
        if error is not None:
            raise error
        return not decisive

    return decide


def exists_one(over: Over, test: Value) -> Value:
    return lambda run: sum(over.holds(test, run) for _ in over.items(run)) == 1


def mapped(over: Over, test: Value | None, body: Value) -> Value:
    if test is None:
        return lambda run: [body(run) for _ in over.items(run)]
    return lambda run: [body(run) for _ in over.items(run) if over.holds(test, run)]
