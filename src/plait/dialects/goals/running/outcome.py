"""How a run ends: when a goal can't be reached any more, or when every step of the plan has ended."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from plait.kernel.effects import Finish, SetTimer
from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import Millis, TaskToken

from .compensation import owes_compensation
from .decision_builder import DecisionBuilder
from .evolve import GOAL_FAILED
from .flow import Flow
from .state import CALLBACK, LINGER, StepState

NOT_MATCHED = "required match did not match"
LOOK_AGAIN = 60_000
"""Milliseconds. Work that outlives its run may die with its process: someone must look at the run then."""

_encode = msgspec.json.Encoder().encode


def decide(builder: DecisionBuilder) -> bool:
    """Ends the run if its outcome is clear."""
    flow = builder.flow
    error = _failure(flow)
    if error is not None:
        builder.effect(Finish("failed", error=ErrorInfo(GOAL_FAILED, error, kind="goal")))
    elif flow.unended == 0 and not owes_compensation(flow):
        builder.effect(Finish("completed", Raw(_encode(output(flow)))))
    else:
        return False
    _arm_again(builder)
    return True


def _failure(flow: Flow) -> str | None:
    goals = [(goal, flow.state.steps[goal]) for goal in flow.compiled.goals]
    for goal, step in goals:
        if step.status == "failed":
            return _why(goal, step)
    if goals and all(step.status == "skipped" and step.reason == NOT_MATCHED for _, step in goals):
        return f"goal step '{goals[0][0]}' cannot complete: {NOT_MATCHED}"
    return None


def _why(goal: str, step: StepState) -> str:
    if step.unsatisfied:
        return f"goal step '{goal}' cannot complete: required input '{step.unsatisfied[0]}' unavailable"
    return f"goal step '{goal}' failed: {step.error}"


def output(flow: Flow) -> dict[str, Raw]:
    """The declared outputs of all goals, first value each, and what a parent wants beside them."""
    plan = flow.state.plan
    names: list[str] = []
    for goal in plan.goals:
        step = flow.compiled.steps.get(goal)
        names += step.outputs if step is not None else plan.excluded.satisfied.get(goal, [])
    return {name: values[0].value for name in [*names, *flow.state.returns] if (values := flow.values(name))}


def _arm_again(builder: DecisionBuilder) -> None:
    """The end clears all timers; work that outlives it keeps its own."""
    flow = builder.flow
    if not flow.active:
        return
    builder.effect(SetTimer(LINGER, Millis(builder.now + LOOK_AGAIN)))
    for step_id, step in flow.state.steps.items():
        http = flow.compiled.steps[step_id].step.http
        for token, item in step.items.items():
            if item.status == "active" and item.accepted_at is not None and http is not None and http.callback_timeout:
                due = Millis(item.accepted_at + http.callback_timeout)
                builder.effect(SetTimer(TaskToken(CALLBACK + token), due))
