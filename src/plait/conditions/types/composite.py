"""`composite`: conditions joined by `AND`, `OR` or `NOT`, evaluated in order until one decides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import Any, Final, cast

from plait.conditions import verdict
from plait.conditions.budget import Budget
from plait.conditions.facts import Facts
from plait.conditions.source import Source
from plait.conditions.test import NOTHING, Test
from plait.conditions.verdict import Problem, Verdict

_DECISIVE: Final = {"AND": False, "OR": True}

ReadChild = Callable[[Any, str], Test | None]
"""Parses the condition at a pointer."""


class JoinedTest:
    def __init__(self, children: Sequence[Test], decisive: bool) -> None:
        self._children = children
        self._decisive = decisive
        self.reads = reduce(add, (child.reads for child in children), NOTHING)

    def verdict(self, facts: Facts, budget: Budget) -> Verdict:
        noted: Problem | None = None
        for child in self._children:
            found = child.verdict(facts, budget)
            if found.value is None:
                return found
            noted = noted or found.error
            if found.value is self._decisive:
                return _noted(self._decisive, noted)
        return _noted(not self._decisive, noted)


class NotTest:
    def __init__(self, child: Test) -> None:
        self._child = child
        self.reads = child.reads

    def verdict(self, facts: Facts, budget: Budget) -> Verdict:
        found = self._child.verdict(facts, budget)
        return found if found.value is None else _noted(not found.value, found.error)


def _noted(value: bool, problem: Problem | None) -> Verdict:
    """A verdict that keeps the first missing operand met on the way."""
    return verdict.of(value) if problem is None else Verdict(value, problem)


def read(source: Source, read_child: ReadChild) -> Test | None:
    source.allow("operator", "conditions")
    operator = _operator(source)
    found = source.fields.get("conditions")
    if not isinstance(found, list) or not found:
        source.refuse("`conditions` must be a list of one or more conditions", at="conditions")
        return None
    sources = cast("list[Any]", found)
    if operator == "NOT" and len(sources) != 1:
        source.refuse(f"condition `NOT` takes one child, got {len(sources)}", "wrap them in AND or OR")
    numbered = enumerate(sources)
    children = [read_child(each, source.at("conditions", at)) for at, each in numbered if not source.findings.full]
    good = [child for child in children if child is not None]
    if operator is None or len(good) != len(children):
        return None
    return NotTest(good[0]) if operator == "NOT" else JoinedTest(good, _DECISIVE[operator])


def _operator(source: Source) -> str | None:
    found = source.fields.get("operator")
    name = found.upper() if isinstance(found, str) else None
    if name in ("AND", "OR", "NOT"):
        return name
    source.refuse(f"`operator` {found!r:.60} is unknown", "use AND, OR or NOT", at="operator")
    return None
