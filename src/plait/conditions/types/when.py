"""`when`: a reference and at most one operator. It never fails: a missing value counts as null."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from plait.conditions import paths, verdict
from plait.conditions.budget import Budget, OutOfSteps, is_number
from plait.conditions.facts import Facts
from plait.conditions.source import Source
from plait.conditions.test import NOTHING, Read, Reads
from plait.conditions.verdict import Verdict

_REF: Final = re.compile(r"@(?P<head>[A-Za-z_][A-Za-z0-9_-]*)(?P<path>.*)", re.ASCII | re.DOTALL)
_INPUT: Final = "input"

Holds = Callable[[Any, Any], bool]


def _equal(value: Any, operand: Any) -> bool:
    try:
        return Budget().equal(value, operand)
    except OutOfSteps:  # operands are parts of a definition and small: a value of another size is not equal to one
        return False


def _ordered(compare: Callable[[Any, Any], bool]) -> Holds:
    return lambda value, operand: is_number(value) and is_number(operand) and compare(value, operand)


OPERATORS: Final[dict[str, Holds]] = {
    "eq": _equal,
    "neq": lambda value, operand: not _equal(value, operand),
    "gt": _ordered(lambda value, operand: value > operand),
    "lt": _ordered(lambda value, operand: value < operand),
    "gte": _ordered(lambda value, operand: value >= operand),
    "lte": _ordered(lambda value, operand: value <= operand),
    "exists": lambda value, operand: (value is not None) is operand,
    "in": lambda value, operand: any(_equal(value, each) for each in operand),
}


def is_true(value: Any) -> bool:
    """The truth of a value without an operator: `[]`, `{}` and `"0"` are true."""
    return not (value is None or value is False or value == "" or (is_number(value) and value == 0))


def holds(operator: str | None, operand: Any, value: Any) -> bool:
    """Whether a value passes; without an operator, whether it counts as true."""
    return is_true(value) if operator is None else OPERATORS[operator](value, operand)


class WhenTest:
    def __init__(self, head: str, path: tuple[str, ...], holds: Callable[[Any], bool], pointer: str) -> None:
        self._head = head
        self._path = path
        self._holds = holds
        self.reads = NOTHING if head == _INPUT else Reads((Read(head, f"@{head}", pointer),))

    def verdict(self, facts: Facts, budget: Budget) -> Verdict:
        return verdict.of(self.holds_for(self._start(facts)))

    def holds_for(self, start: Any) -> bool:
        """Whether it holds for the value that its reference starts from."""
        found = paths.follow(start, self._path)
        return self._holds(None if found is paths.MISSING else found)

    def _start(self, facts: Facts) -> Any:
        if self._head == _INPUT:
            return facts.names.get(_INPUT)
        return paths.follow(facts.nodes, (self._head, "output"))


def read(source: Source) -> WhenTest | None:
    source.allow("ref", *OPERATORS)
    ref = source.text("ref")
    reference = None if ref is None else _reference(source, ref)
    holds = _holds(source)
    if reference is None or holds is None:
        return None
    return WhenTest(*reference, holds, source.at("ref"))


def _reference(source: Source, ref: str) -> tuple[str, tuple[str, ...]] | None:
    found = _REF.fullmatch(ref)
    path = paths.parse(found["path"].removeprefix(".")) if found else None
    if found is None or path is None or (found["path"] and found["path"][0] not in ".["):
        source.refuse(f"`ref` {ref!r:.80} is no reference", "write @node.path or @input.path", at="ref")
        return None
    return found["head"], path


def _holds(source: Source) -> Callable[[Any], bool] | None:
    given = [name for name in OPERATORS if source.has(name)]
    if not given:
        return is_true
    if len(given) > 1:
        source.refuse(f"`when` takes one operator, got {', '.join(given)}", "combine several with a composite")
        return None
    (name,) = given
    operand = source.fields[name]
    if (name == "exists" and not isinstance(operand, bool)) or (name == "in" and not isinstance(operand, list)):
        source.refuse(f"`{name}` takes {'true or false' if name == 'exists' else 'a list'}", at=name)
        return None
    return lambda value: holds(name, operand, value)
