"""One evaluation of an expression: the values of its names, and the remaining steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from plait.conditions.budget import Budget


class Run(Budget):
    """Mutable on purpose: it is updated at every step."""

    __slots__ = ("names", "node", "variables")

    def __init__(self, names: Mapping[str, Any], steps: int, node: str = "", variables: int = 0) -> None:
        super().__init__(steps)
        self.names = names
        self.node = node
        """The node whose output is `output`, for messages."""
        self.variables: list[Any] = [None] * variables
        """Variables of macros, by nesting depth."""


Value = Callable[[Run], Any]
"""A lowered expression: returns a JSON value, or raises a `CelError`."""
