"""Evaluating the conditions of a run: in the decision, or by a task, whose verdict is then kept with the execution."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from plait.conditions import Verdict

from .decision_builder import DecisionBuilder
from .state import Execution, Judgement

_decode = msgspec.json.Decoder().decode


class OutsideVerdict(Exception):
    """A task must judge the condition first; its verdict is not here yet."""

    def __init__(self, pointer: str) -> None:
        super().__init__(pointer)
        self.pointer = pointer


class Judge:
    """Evaluates the conditions of one execution; the values they read are decoded once, and only if needed."""

    def __init__(self, builder: DecisionBuilder, execution: Execution, output: Raw) -> None:
        self._builder = builder
        self._execution = execution
        self._raw = output
        self._output: Any = None
        self._decoded = False

    def ask(self, pointer: str) -> Judgement:
        """Returns the verdict; raises `OutsideVerdict` where a task must judge first."""
        condition = self._builder.run.plan.conditions[pointer]
        if condition.needs_task:
            known = self._execution.verdicts.get(pointer)
            if known is None:
                raise OutsideVerdict(pointer)
            return known
        if not self._decoded:
            self._output, self._decoded = _decode(self._raw), True
        builder, execution = self._builder, self._execution
        reads = frozenset(builder.run.state.context) if condition.reads_all else condition.reads
        found = condition.evaluate(
            self._output,
            builder.records(reads),
            builder.input(),
            metadata={"iteration": execution.iteration(), "duration_ms": builder.now - execution.started_at},
            node=execution.node,
        )
        return judgement(found)


def judgement(verdict: Verdict) -> Judgement:
    problem = verdict.error
    if problem is None:
        return TRUE if verdict.value else FALSE
    return Judgement(bool(verdict.value), problem.code, problem.message, problem.soft)


TRUE, FALSE = Judgement(True), Judgement(False)
