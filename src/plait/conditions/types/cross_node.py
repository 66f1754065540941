"""`cross_node_comparison`: compares two values of nodes, or evaluates an expression over them. A missing value makes it
false."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

from plait.conditions import paths, verdict
from plait.conditions.budget import Budget, OutOfSteps
from plait.conditions.cel import CelError
from plait.conditions.cel.operators import contains, is_in, ordered
from plait.conditions.facts import Facts
from plait.conditions.source import Source
from plait.conditions.test import NOTHING, Read, Reads, Test
from plait.conditions.verdict import Verdict

from .cel import OUT_OF_STEPS, CelTest, of_text

_NAMES: Final = ("current", "ctx")
_RECORD: Final = ("output", "metadata")
_MISSING: Final = frozenset({"no_such_field", "out_of_range"})

Compare = Callable[[Any, Any, Budget], bool]


def _ordering(name: str, compare: Callable[[Any, Any], bool]) -> Compare:
    return lambda left, right, budget: ordered(compare, name, left, right, budget)


_OPERATORS: Final[dict[str, Compare]] = {
    ">": _ordering(">", operator.gt),
    ">=": _ordering(">=", operator.ge),
    "<": _ordering("<", operator.lt),
    "<=": _ordering("<=", operator.le),
    "==": lambda left, right, budget: budget.equal(left, right),
    "!=": lambda left, right, budget: not budget.equal(left, right),
    "in": is_in,
    "not_in": lambda left, right, budget: not is_in(left, right, budget),
    "contains": contains,
}


class _Side:
    """One operand: a literal, or a path that starts at the record of a node."""

    def __init__(self, shown: str, find: Callable[[Facts], Any], reads: Reads = NOTHING) -> None:
        self.shown = shown
        self.find = find
        self.reads = reads


class ComparisonTest:
    def __init__(self, left: _Side, compare: Compare, right: _Side) -> None:
        self._left = left
        self._compare = compare
        self._right = right
        self.reads = left.reads + right.reads

    def verdict(self, facts: Facts, budget: Budget) -> Verdict:
        left, right = self._left.find(facts), self._right.find(facts)
        for side, found in ((self._left, left), (self._right, right)):
            if found is paths.MISSING:
                return verdict.missing(f"{side.shown} is missing")
        try:
            return verdict.of(self._compare(left, right, budget))
        except CelError as error:
            return verdict.failed(error.code, error.message)
        except OutOfSteps:
            return verdict.failed("budget", OUT_OF_STEPS)


class ExpressionTest(CelTest):
    def _failed(self, error: CelError) -> Verdict:
        return verdict.missing(error.message) if error.code in _MISSING else super()._failed(error)


def read(source: Source) -> Test | None:
    source.allow("left", "operator", "right", "expression")
    if source.has("expression"):
        return _expression(source)
    left, right = _side(source.part("left")), _side(source.part("right"))
    name = source.choice("operator", tuple(_OPERATORS))
    if left is None or right is None or name is None:
        return None
    return ComparisonTest(left, _OPERATORS[name], right)


def _expression(source: Source) -> Test | None:
    if any(source.has(name) for name in ("left", "operator", "right")):
        source.refuse("both `expression` and `left`, `operator`, `right` are given", "keep one of the two forms")
        return None
    text = source.text("expression")
    if text is None:
        return None
    return of_text(text, source.at("expression"), source.findings, _NAMES, ExpressionTest)


def _side(source: Source | None) -> _Side | None:
    if source is None:
        return None
    if source.has("value"):
        source.allow("value")
        literal = source.fields["value"]
        return _Side("`value`", lambda facts: literal)
    kind = source.choice("source", ("current", "context"))
    if kind == "current":
        return _of_current(source)
    return None if kind is None else _of_node(source)


def _of_current(source: Source) -> _Side | None:
    source.allow("source", "path")
    path = _path(source)
    if path is None:
        return None
    return _Side(f"`{'.'.join(path)}` of this node", lambda facts: paths.follow(facts.names.get("current"), path))


def _of_node(source: Source) -> _Side | None:
    source.allow("source", "node", "path")
    node, path = source.text("node"), _path(source)
    if node is None or path is None:
        return None
    whole = (node, *path)
    reads = Reads((Read(node, f"ctx.{node}", source.at("node")),))
    return _Side(f"`{'.'.join(path)}` of `{node}`", lambda facts: paths.follow(facts.nodes, whole), reads)


def _path(source: Source) -> tuple[str, ...] | None:
    text = source.text("path")
    if text is None:
        return None
    path = paths.parse(text)
    if not path or path[0] not in _RECORD:
        source.refuse(f"`path` {text!r:.80} is no path", "start it with `output.` or `metadata.`", at="path")
        return None
    return path
