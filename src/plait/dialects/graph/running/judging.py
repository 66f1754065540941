"""Conditions that a task judges: the node's output is kept, and settled when the verdict arrives."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from plait.conditions import Verdict
from plait.kernel.effects import Task
from plait.kernel.inputs import TaskResult

from .conditions import judgement
from .decision_builder import DecisionBuilder
from .events import ConditionJudged, NodeExecuted
from .opa import OPA, opa_judgement, opa_task
from .routing import Chosen
from .state import Execution, Judgement
from .tasks import judge_task

_JUDGE = "~judge"
_verdict = msgspec.json.Decoder(Verdict)


def judge_outside(
    builder: DecisionBuilder, execution: Execution, output: Raw, attempt: int, chosen: Chosen | None, pointer: str
) -> None:
    if not execution.output:
        wanted = None if chosen is None or chosen.next_nodes is None else list(chosen.next_nodes)
        why = "" if chosen is None else chosen.reasoning
        builder.record(NodeExecuted(execution.node, execution.id, output, attempt, wanted, why))
    builder.effect(judging_task(builder, execution, pointer))


def judging_task(builder: DecisionBuilder, execution: Execution, pointer: str) -> Task:
    make = opa_task if pointer.startswith(OPA) else judge_task
    return make(builder, execution, pointer, _JUDGE)


def is_verdict(token: str) -> bool:
    return _JUDGE in token


def judged(builder: DecisionBuilder, result: TaskResult) -> Execution | None:
    """Records a verdict; returns its execution, to be settled."""
    task, _, pointer = result.token.partition(_JUDGE)
    execution = builder.run.by_task(task)
    if execution is None or execution.dead or pointer in execution.verdicts:
        return None
    if pointer.startswith(OPA):
        found = opa_judgement(result)
    elif result.error is not None:
        found = Judgement(code=result.error.code, message=result.error.message)
    else:
        found = judgement(_verdict.decode(result.output))
    builder.record(ConditionJudged(execution.node, execution.id, pointer, found.value, found.code, found.message))
    return execution
