"""A run as people see it: init, the planned steps, and who gave what to whom."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw

from plait.kernel import values
from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import TaskToken, caller_id
from plait.kernel.machine import RunInfo, TaskFacts
from plait.kernel.view import Edge, Node, NodeStatus

from .children import child_name
from .compiled_plan import StepPlan
from .flow import Flow
from .state import DONE, INIT, PATCH, StepState

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
    """A step may be called so too."""
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
        error=ErrorInfo("goals.step_failed", step.error) if step.error else None,
        skip_reason=step.reason or (RUN_ENDED if _never_ran(flow, step) else None),
        detail=_detail(step),
        child=child,
        token=only[0] if only is not None else None,
    )


def _status(flow: Flow, step: StepState, tasks: Mapping[TaskToken, TaskFacts]) -> NodeStatus:
    if step.status in ("completed", "failed", "skipped"):
        return step.status
    if _never_ran(flow, step):
        return "skipped"
    if step.status == "pending":
        return "pending"
    if flow.over and not flow.hears:
        return "cancelled"
    items = step.items.values()
    if any(item.retry_at is not None for item in items) and not any(item.status == "active" for item in items):
        return "retrying"
    if all(item.accepted_at is not None for item in items if item.status == "active"):
        return "waiting"
    return "running"


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


# -- what only this dialect has ----------------------------------------------------------------------------------------


def details(flow: Flow) -> dict[str, Any]:
    plan = flow.state.plan
    return {
        "attributes": {
            name: [_value(each.value, each.step, each.set_at) for each in found]
            for name, found in sorted(flow.state.attributes.items())
        },
        "plan_diff": plan_diff(flow),
        "plan": {
            "goals": plan.goals,
            "required": plan.required,
            "excluded": msgspec.to_builtins(plan.excluded),
            "warnings": plan.warnings,
        },
    }


def _value(value: Raw, step: str, at: int) -> dict[str, Any]:
    shown = {"value": values.decode(value), "set_at": at}
    return shown if step == INIT else {**shown, "step": step}


def plan_diff(flow: Flow) -> dict[str, Any]:
    """The plan beside what really ran."""
    steps = flow.state.steps
    by_status: dict[str, list[str]] = {"completed": [], "failed": [], "pending": []}
    for step_id, step in steps.items():
        by_status.setdefault(step.status, []).append(step_id)
    given = {name: [each.step for each in found] for name, found in sorted(flow.state.attributes.items())}
    return {
        "planned": list(steps),
        "completed": by_status["completed"],
        "failed": by_status["failed"],
        "skipped": {step_id: step.reason for step_id, step in steps.items() if step.status == "skipped"},
        "not_started": by_status["pending"],
        "winners": {name: found[0] for name, found in given.items() if found[0] not in (INIT, PATCH)},
        "late": {name: found[1:] for name, found in given.items() if len(found) > 1},
    }
