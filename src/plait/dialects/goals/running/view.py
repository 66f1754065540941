"""A run as people see it: init, the planned steps, who provides what to whom, and why it does not proceed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Raw

from plait.kernel import values
from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import Millis, TaskToken, caller_id
from plait.kernel.machine import RunInfo, TaskFacts
from plait.kernel.moment import utc
from plait.kernel.view import Edge, Node, NodeStatus, Reason

from .children import child_name
from .compiled_plan import StepPlan, Wanted
from .decision_builder import RunContext
from .flow import Flow
from .input_resolution import resolution
from .state import DONE, INIT, ItemState, StepState
from .tasks import missing_handler

RUN_ENDED = "run ended"


def nodes(flow: Flow, info: RunInfo, tasks: Mapping[TaskToken, TaskFacts]) -> tuple[list[Node], list[Edge]]:
    steps = [_node(flow, plan, info, tasks) for plan in flow.compiled.steps.values()]
    return [_init(flow), *steps], _edges(flow)


# -- nodes -------------------------------------------------------------------------------------------------------------


def _init(flow: Flow) -> Node:
    given = {
        name: values.decode(found[0].value) for name, found in flow.state.attributes.items() if found[0].step == INIT
    }
    at = flow.state.started_at
    return Node(
        id=init_id(flow), kind="init", label="init", status="completed", started_at=at, ended_at=at, output=given
    )


def init_id(flow: Flow) -> str:
    """The id of init's node; a step may have the same name."""
    return "init" if "init" not in flow.state.steps else ":init"


def _node(flow: Flow, plan: StepPlan, info: RunInfo, tasks: Mapping[TaskToken, TaskFacts]) -> Node:
    step = flow.state.steps[plan.id]
    only = next(iter(step.items.items())) if len(step.items) == 1 and step.total == 1 else None
    child = None
    if only is not None and plan.step.type in ("flow", "run"):
        child = caller_id(child_name(info.run_id, plan.id, only[0], only[1].round))
    return Node(
        id=plan.id,
        kind=plan.step.type,
        label=plan.step.name,
        status=_status(flow, step, tasks),
        attempts=_attempts(step),
        started_at=step.started_at,
        ended_at=step.ended_at,
        input=_shown(step.inputs),
        output=_shown(step.outputs),
        error=ErrorInfo("goals.step_failed", step.error) if step.error and not _unreached(step) else None,
        skip_reason=_skip_reason(flow, step),
        detail=_detail(step),
        child=child,
        token=only[0] if only is not None else None,
    )


def _status(flow: Flow, step: StepState, tasks: Mapping[TaskToken, TaskFacts]) -> NodeStatus:
    if _unreached(step):
        return "skipped"
    if step.status in ("completed", "failed", "skipped"):
        return step.status
    if _never_ran(flow, step):
        return "skipped"
    if step.status == "pending":
        return "pending"
    if flow.over and not flow.takes_results:
        return "cancelled"
    items = step.items.values()
    if any(item.retry_at is not None for item in items) and not any(item.status == "active" for item in items):
        return "retrying"
    if all(item.accepted_at is not None for item in items if item.status == "active"):
        return "waiting"
    return "running"


def _unreached(step: StepState) -> bool:
    """Whether a step failed only because its input never came."""
    return step.status == "failed" and step.started_at is None and bool(step.unsatisfied)


def _skip_reason(flow: Flow, step: StepState) -> str | None:
    if _unreached(step):
        return f"not reached: no {' and '.join(step.unsatisfied)}"
    return step.reason or (RUN_ENDED if _never_ran(flow, step) else None)


def _never_ran(flow: Flow, step: StepState) -> bool:
    return flow.state.ended_at is not None and step.status == "pending"


def _attempts(step: StepState) -> int:
    return max((item.attempts + (item.status in (*DONE, "active")) for item in step.items.values()), default=0)


def _detail(step: StepState) -> str:
    if step.total <= 1:
        return ""
    done = _count(step, DONE)
    failed = _count(step, ("failed",))
    text = f"{done} of {len(step.items)} items"
    if step.dropped:
        text += f", {len(step.dropped)} dropped"
    return f"{text}, {failed} failed" if failed else text


def _count(step: StepState, statuses: tuple[str, ...]) -> int:
    return sum(item.status in statuses for item in step.items.values())


def _shown(raw: Raw) -> Any:
    return values.decode(raw) if raw else None


# -- edges -------------------------------------------------------------------------------------------------------------


def _edges(flow: Flow) -> list[Edge]:
    found: list[Edge] = []
    compiled, init = flow.compiled, init_id(flow)
    for name, consumers in compiled.consumers.items():
        given = flow.values(name)
        winner = given[0].step if given else None
        sources = list(compiled.providers[name])
        if any(value.step == INIT for value in given):
            sources.insert(0, INIT)
        found += [
            Edge(source or init, consumer, name, chosen=source == winner and len(sources) > 1)
            for source in sources
            for consumer in consumers
        ]
    return found


# -- why it is not moving ----------------------------------------------------------------------------------------------


def waiting(flow: Flow, context: RunContext, tasks: Mapping[TaskToken, TaskFacts]) -> list[Reason]:
    if flow.over:
        return []
    found: list[Reason] = []
    for step_id, plan in flow.compiled.steps.items():
        step = flow.state.steps[step_id]
        if step.status == "active" or (step.items and flow.slots[step_id].active):
            found += _work(flow, plan, step, context, tasks)
        elif step.status == "pending":
            found += _inputs(flow, plan, step)
        found += _compensating(plan, step)
    return found


# -- a step that has not started ---------------------------------------------------------------------------------------


def _inputs(flow: Flow, plan: StepPlan, step: StepState) -> Iterator[Reason]:
    missing = [each for each in plan.required if resolution(flow, step, each) == "open"]
    for each in missing:
        givers = _givers(flow, each)
        text = f"`{plan.id}` waits for `{each.name}` from {givers}" if givers else _judging(plan, each)
        yield Reason("input", text, plan.id)
    if missing:
        return
    waits = {each.name: step.waits[each.name] for each in plan.optional if _is_waited_for(flow, step, each)}
    for name, until in waits.items():
        yield Reason("input", f"`{plan.id}` waits for optional `{name}` until {utc(until)}", plan.id, until)
    for each in plan.optional:
        if each.deadline < 0 and resolution(flow, step, each) == "open":
            yield Reason("input", f"`{plan.id}` waits for optional `{each.name}` from {_givers(flow, each)}", plan.id)
    if plan.scripted and not waits:
        yield Reason("script", f"the scripts before `{plan.id}` are running", plan.id)


def _is_waited_for(flow: Flow, step: StepState, wanted: Wanted) -> bool:
    return wanted.name in step.waits and resolution(flow, step, wanted) == "open"


def _givers(flow: Flow, wanted: Wanted) -> str:
    steps = flow.state.steps
    providers = flow.compiled.providers[wanted.name]
    return " or ".join(f"`{each}`" for each in providers if not steps[each].ended)


def _judging(plan: StepPlan, wanted: Wanted) -> str:
    return f"`{plan.id}` waits for its match of `{wanted.name}`"


# -- a step at work ----------------------------------------------------------------------------------------------------


def _work(
    flow: Flow, plan: StepPlan, step: StepState, context: RunContext, tasks: Mapping[TaskToken, TaskFacts]
) -> Iterator[Reason]:
    lacking = missing_handler(context, plan.step)
    slots = flow.slots[plan.id]
    if lacking is not None:
        yield Reason("handler", lacking, plan.id)
        return
    unhealthy = context.unhealthy(plan.id)
    note = f" (unhealthy: {unhealthy})" if unhealthy else ""
    running = 0
    for token, item in step.items.items():
        if item.retry_at is not None:
            yield _retry(plan, token, item, tasks, note)
        elif item.status == "active" and plan.step.type in ("flow", "run"):
            child = caller_id(child_name(context.info.run_id, plan.id, token, item.round))
            yield Reason("child", f"child run `{child}`", plan.id, short=f"child run of `{plan.step.name}`")
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
    at = utc(item.retry_at or Millis(0))
    text = f"retry {item.attempts}{of} of `{plan.id}` at {at}: {item.error}{note}"
    return Reason("retry", text, plan.id, item.retry_at, f"retry {item.attempts}{of} of `{plan.step.name}`")


def _callback(plan: StepPlan, item: ItemState, note: str) -> Reason:
    since = item.accepted_at or Millis(0)
    limit = plan.step.http.callback_timeout if plan.step.http is not None else 0
    until = Millis(since + limit) if limit else None
    end = "no limit" if until is None else f"until {utc(until)}"
    text = f"callback for `{plan.id}` since {utc(since)}, {end}{note}"
    return Reason("callback", text, plan.id, until, f"callback for `{plan.step.name}`")


def _compensating(plan: StepPlan, step: StepState) -> Iterator[Reason]:
    if any(item.status == "compensating" for item in step.items.values()):
        yield Reason("rollback", f"compensating `{plan.id}`", plan.id)
