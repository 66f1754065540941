"""Why a run is not moving, in a sentence for each thing that is waited for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from plait.kernel.ids import Millis, TaskToken, caller_id
from plait.kernel.machine import TaskFacts
from plait.kernel.view import Reason

from .children import child_name
from .compiled_plan import StepPlan, Wanted
from .decision_builder import Around
from .flow import Flow
from .input_resolution import standing
from .state import ItemState, StepState
from .tasks import missing_handler


def waiting(flow: Flow, around: Around, tasks: Mapping[TaskToken, TaskFacts]) -> list[Reason]:
    if flow.over:
        return []
    found: list[Reason] = []
    for step_id, plan in flow.compiled.steps.items():
        step = flow.state.steps[step_id]
        if step.status == "active" or (step.items and flow.slots_of[step_id].active):
            found += _work(flow, plan, step, around, tasks)
        elif step.status == "pending":
            found += _inputs(flow, plan, step)
        found += _undoing(plan, step)
    return found


# -- a step that has not started ---------------------------------------------------------------------------------------


def _inputs(flow: Flow, plan: StepPlan, step: StepState) -> Iterator[Reason]:
    missing = [each for each in plan.required if standing(flow, step, each) == "open"]
    for each in missing:
        givers = _givers(flow, each)
        text = f"`{plan.id}` waits for `{each.name}` from {givers}" if givers else _judging(plan, each)
        yield Reason("input", text, plan.id)
    if missing:
        return
    waits = {each.name: step.waits[each.name] for each in plan.optional if _is_waited_for(flow, step, each)}
    for name, until in waits.items():
        yield Reason("input", f"`{plan.id}` waits for optional `{name}` until {clock(until)}", plan.id, until)
    for each in plan.optional:
        if each.deadline < 0 and standing(flow, step, each) == "open":
            yield Reason("input", f"`{plan.id}` waits for optional `{each.name}` from {_givers(flow, each)}", plan.id)
    if plan.scripted and not waits:
        yield Reason("script", f"the scripts before `{plan.id}` are running", plan.id)


def _is_waited_for(flow: Flow, step: StepState, wanted: Wanted) -> bool:
    return wanted.name in step.waits and standing(flow, step, wanted) == "open"


def _givers(flow: Flow, wanted: Wanted) -> str:
    steps = flow.state.steps
    providers = flow.compiled.providers[wanted.name]
    return " or ".join(f"`{each}`" for each in providers if not steps[each].ended)


def _judging(plan: StepPlan, wanted: Wanted) -> str:
    return f"`{plan.id}` waits for its match of `{wanted.name}`"


# -- a step at work ----------------------------------------------------------------------------------------------------


def _work(
    flow: Flow, plan: StepPlan, step: StepState, around: Around, tasks: Mapping[TaskToken, TaskFacts]
) -> Iterator[Reason]:
    lacking = missing_handler(around, plan.step)
    slots = flow.slots_of[plan.id]
    if lacking is not None:
        yield Reason("handler", lacking, plan.id)
        return
    unhealthy = around.unhealthy(plan.id)
    note = f" (unhealthy: {unhealthy})" if unhealthy else ""
    running = 0
    for token, item in step.items.items():
        if item.retry_at is not None:
            yield _retry(plan, token, item, tasks, note)
        elif item.status == "active" and plan.step.type in ("flow", "run"):
            child = caller_id(child_name(around.info.run_id, plan.id, token, item.round))
            yield Reason("child", f"child run `{child}`", plan.id)
        elif item.status == "active" and item.accepted_at is not None:
            yield _callback(plan, item, note)
        else:
            running += item.status == "active"
    if running:
        text = f"`{plan.id}` is running" if running == 1 else f"{running} items of `{plan.id}` are running"
        yield Reason("task", text + note, plan.id)
    if slots.idle:
        count = len(slots.idle)
        yield Reason(
            "slot", f"{count} item{'s' * (count > 1)} of `{plan.id}` wait{'s' * (count == 1)} for a slot", plan.id
        )


def _retry(plan: StepPlan, token: str, item: ItemState, tasks: Mapping[TaskToken, TaskFacts], note: str) -> Reason:
    facts = tasks.get(TaskToken(token))
    most = facts.max_attempts if facts is not None else plan.policy.retry.max_attempts
    of = f" of {most - 1}" if plan.step.work_config.max_retries >= 0 else ""
    at = clock(item.retry_at or Millis(0))
    text = f"retry {item.attempts}{of} of `{plan.id}` at {at}: {item.error}{note}"
    return Reason("retry", text, plan.id, item.retry_at)


def _callback(plan: StepPlan, item: ItemState, note: str) -> Reason:
    since = item.accepted_at or Millis(0)
    limit = plan.step.http.callback_timeout if plan.step.http is not None else 0
    until = Millis(since + limit) if limit else None
    end = "no limit" if until is None else f"until {clock(until)}"
    return Reason("callback", f"callback for `{plan.id}` since {clock(since)}, {end}{note}", plan.id, until)


def _undoing(plan: StepPlan, step: StepState) -> Iterator[Reason]:
    if any(item.status == "compensating" for item in step.items.values()):
        yield Reason("rollback", f"compensating `{plan.id}`", plan.id)


def clock(at: Millis) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).strftime("%H:%M:%S")
