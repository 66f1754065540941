"""Why a run can't reach its goals: the error it ends with, and within it the step that failed first."""

from __future__ import annotations

from msgspec.structs import replace

from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import RunId, caller_id

from .children import child_name
from .evolve import GOAL_FAILED, STEP_FAILED
from .flow import Flow
from .state import StepState

NOT_MATCHED = "required match did not match"


def failure(flow: Flow, run_id: RunId) -> ErrorInfo | None:
    goals = [(goal, flow.state.steps[goal]) for goal in flow.compiled.goals]
    for goal, step in goals:
        if step.status == "failed":
            cause = _step_error(flow, _first_to_fail(flow, goal), run_id)
            return ErrorInfo(GOAL_FAILED, _why(goal, step), kind="goal", cause=cause)
    if goals and all(step.status == "skipped" and step.reason == NOT_MATCHED for _, step in goals):
        return ErrorInfo(GOAL_FAILED, f"goal step '{goals[0][0]}' cannot complete: {NOT_MATCHED}", kind="goal")
    return None


def _why(goal: str, step: StepState) -> str:
    if step.unsatisfied:
        return f"goal step '{goal}' cannot complete: required input '{step.unsatisfied[0]}' unavailable"
    return f"goal step '{goal}' failed: {step.error}"


def _first_to_fail(flow: Flow, step_id: str) -> str:
    """Walks back from a step that lacks an input to the step that should have provided it."""
    steps, seen = flow.state.steps, {step_id}
    while steps[step_id].unsatisfied:
        providers = flow.compiled.providers[steps[step_id].unsatisfied[0]]
        failed = next((each for each in providers if steps[each].status == "failed" and each not in seen), None)
        if failed is None:
            break
        seen.add(failed)
        step_id = failed
    return step_id


def _step_error(flow: Flow, step_id: str, run_id: RunId) -> ErrorInfo:
    plan, step = flow.compiled.steps[step_id], flow.state.steps[step_id]
    token, item = next(((token, item) for token, item in step.items.items() if item.status == "failed"), ("", None))
    cause = "" if item is None else item.cause
    if isinstance(cause, ErrorInfo):
        return replace(cause, ops=[step_id], label=plan.step.name)
    if item is not None and plan.step.type in ("flow", "run"):
        child = caller_id(child_name(run_id, step_id, token, item.round))
        told = ErrorInfo(STEP_FAILED, cause or step.error)
        return _of(step_id, plan.step.name, told, "child", {"run_id": child})
    told = ErrorInfo(STEP_FAILED, step.error)
    if item is not None and item.attempts > 1:
        return _of(step_id, plan.step.name, told, "exhausted", {"attempts": item.attempts})
    return _of(step_id, plan.step.name, told)


def _of(
    step_id: str, name: str, told: ErrorInfo, kind: str = "error", attrs: dict[str, object] | None = None
) -> ErrorInfo:
    cause = told if attrs else None
    return ErrorInfo(told.code, told.message, kind, attrs=attrs or {}, cause=cause, ops=[step_id], label=name)
