"""A compiled expression: can be evaluated any number of times, from any thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plait.conditions.budget import Budget

from .errors import CelSyntaxError
from .evaluation import Run
from .lowering import Lowering, cost
from .reading import read
from .syntax import Node, children

MAX_TEXT = 4_096
"""Characters of an expression."""
MAX_NODES = 500
MAX_NESTING = 32


class Expression:
    __slots__ = ("_cost", "_value", "_variables", "reads", "reads_all", "text")

    def __init__(self, text: str, names: Sequence[str]) -> None:
        """`names` are those that it may use. Raises a `CelSyntaxError`."""
        self.text = text
        tree = _checked(text)
        lowering = Lowering(names)
        self._value = lowering.value(tree)
        self._variables = lowering.variables
        self._cost = cost(tree)
        self.reads = frozenset(lowering.reads)
        """Nodes whose record it reads from `ctx`."""
        self.reads_all = lowering.reads_all
        """Whether it may read any node's record: the node's name is computed, or `ctx` is used as a whole."""

    def evaluate(self, names: Mapping[str, Any], node: str = "", budget: Budget | None = None) -> Any:
        """Returns the value. Raises a `CelError`, or `OutOfSteps`. `budget`: remaining steps shared with other
        expressions."""
        budget = budget or Budget()
        run = Run(names, budget.left, node, self._variables)
        try:
            run.take(self._cost)
            return self._value(run)
        finally:
            budget.left = run.left


def _checked(text: str) -> Node:
    if len(text) > MAX_TEXT:
        message = f"condition is {len(text):,} characters, limit {MAX_TEXT:,}"
        raise CelSyntaxError(message, fix="split it with a composite condition", code="too_big")
    tree = read(text)
    nodes, depth = _measured(tree)
    if nodes > MAX_NODES or depth > MAX_NESTING:
        message = f"condition has {nodes:,} parts in {depth} levels, limit {MAX_NODES:,} in {MAX_NESTING}"
        raise CelSyntaxError(message, fix="split it with a composite condition", code="too_big")
    return tree


def _measured(tree: Node) -> tuple[int, int]:
    nodes = depth = 0
    level = [tree]
    while level:
        nodes, depth = nodes + len(level), depth + 1
        level = [child for node in level for child in children(node)]
    return nodes, depth
