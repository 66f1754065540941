"""Conditions as a run asks them: in the decision, or by a task, whose verdict is then kept with the execution."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec
from msgspec import Raw

from .decision_builder import DecisionBuilder
from .state import Execution, Judgement

_decode = msgspec.json.Decoder().decode


class Problem(Protocol):
    @property
    def code(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def soft(self) -> bool: ...


class Verdict(Protocol):
    @property
    def value(self) -> bool | None: ...
    @property
    def error(self) -> Problem | None: ...


class Condition(Protocol):
    """What `plait.conditions` compiles."""

    @property
    def reads(self) -> frozenset[str]:
        """Nodes whose outputs it wants."""
        ...

    def evaluate(self, output: Any, ctx: Mapping[str, Any], input: Any) -> Verdict: ...


class OutsideVerdict(Exception):
    """A condition that a task judges; its verdict is not here yet."""

    def __init__(self, pointer: str) -> None:
        super().__init__(pointer)
        self.pointer = pointer


class Judge:
    """Asks the conditions of one execution; what they read is decoded once, and only if one is asked."""

    def __init__(self, builder: DecisionBuilder, execution: Execution, output: Raw) -> None:
        self._builder = builder
        self._execution = execution
        self._raw = output
        self._output: Any = None
        self._decoded = False

    def ask(self, pointer: str) -> Judgement:
        """Raises `OutsideVerdict` where a task has to judge first."""
        plan = self._builder.run.plan
        if pointer in plan.outside:
            known = self._execution.verdicts.get(pointer)
            if known is None:
                raise OutsideVerdict(pointer)
            return known
        if not self._decoded:
            self._output, self._decoded = _decode(self._raw), True
        condition: Condition = plan.conditions[pointer]
        context = self._builder.records(condition.reads)
        return judgement(condition.evaluate(self._output, context, self._builder.input()))


def judgement(verdict: Verdict) -> Judgement:
    problem = verdict.error
    if problem is None:
        return TRUE if verdict.value else FALSE
    return Judgement(bool(verdict.value), problem.code, problem.message, problem.soft)


TRUE, FALSE = Judgement(True), Judgement(False)
