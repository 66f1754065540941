"""Changes that people make to a run.

A fork may change recorded values, and the definitions of steps that have not started. A patch sets a value that no
step provides, or skips a step that need not run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from plait.dialects.goals.errors import GoalsError
from plait.dialects.goals.steps.reading import read_step
from plait.dialects.goals.steps.step import Step, emitted
from plait.kernel import values
from plait.kernel.bundle import ForkPlan
from plait.kernel.errors import Flaw, InvalidInput
from plait.kernel.ids import RunId, caller_id

from .decision_builder import DecisionBuilder
from .events import AttributeSet, FlowForked, StepSkipped
from .flow import Flow
from .state import PATCH

SKIPPED = "skipped by a patch"
_EDITS = ("attributes", "steps")


def fork(flow: Flow, source: RunId, at: int | str | None, edits: Mapping[str, Any]) -> ForkPlan:
    state = flow.state
    last = state.end_seq - 1 if state.end_seq else state.seq
    upto = last if at is None else at if isinstance(at, int) else _before(flow, at)
    if not 1 <= upto <= state.seq:
        raise InvalidInput("kernel.bad_fork", f"there is no event {upto}", fix=f"use 1 to {last}")
    unknown = [key for key in edits if key not in _EDITS]
    if unknown:
        raise _bad(f"edits have no part '{unknown[0]}'", 'use {"attributes": {name: value}, "steps": {id: step}}')
    attributes = {name: values.decode(values.encode(value)) for name, value in _part(edits, "attributes").items()}
    steps = {step_id: _step(flow, step_id, data) for step_id, data in _part(edits, "steps").items()}
    return ForkPlan(upto, FlowForked(caller_id(source), upto, attributes, steps))


def _before(flow: Flow, step_id: str) -> int:
    step = flow.state.steps.get(step_id)
    if step is None or not step.opened_seq:
        raise InvalidInput(
            "kernel.bad_fork", f"step '{step_id}' has not started in this run", fix="name one that has, or an event"
        )
    return step.opened_seq - 1


def _part(edits: Mapping[str, Any], name: str) -> dict[str, Any]:
    found: object = edits.get(name) or {}
    if not isinstance(found, dict):
        raise _bad(f"'{name}' of the edits is no object", "send an object")
    return cast("dict[str, Any]", found)


def _step(flow: Flow, step_id: str, data: Any) -> Step:
    """Replaces the definition of a step; what the plan depends on must stay the same."""
    old = flow.state.plan.steps.get(step_id)
    if old is None:
        raise _bad(f"step '{step_id}' is not in the plan", "the plan of a fork is that of its run")
    if flow.state.steps[step_id].status != "pending":
        raise _bad(f"step '{step_id}' had started by then", "fork at an earlier place")
    given = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
    try:
        new = data if isinstance(data, Step) else read_step({**emitted(old), **given, "id": step_id})
    except GoalsError as error:
        raise _bad(f"step '{step_id}': {error.what}", error.fix) from None
    if _shape(new) != _shape(old):
        raise _bad(f"step '{step_id}' has other inputs, outputs or goals", "the plan's shape stays; start a new run")
    return new


def _shape(step: Step) -> object:
    attributes = {
        name: (each.role, each.detail.collect)
        for name, each in step.attributes.items()
        if each.role not in ("const", "meta")
    }
    return attributes, step.flow.goals if step.flow is not None else ()


def _bad(what: str, fix: str) -> InvalidInput:
    return InvalidInput("kernel.bad_edit", what, fix=fix)


# -- patches -----------------------------------------------------------------------------------------------------------


def patch(builder: DecisionBuilder, operations: list[dict[str, Any]]) -> None:
    """Applies all patches or none."""
    checked = [_checked(builder, place, operation) for place, operation in enumerate(operations)]
    for event in checked:
        builder.record(event)


def _checked(builder: DecisionBuilder, place: int, operation: dict[str, Any]) -> AttributeSet | StepSkipped:
    match operation:
        case {"op": "set", "name": str(name), "value": value, **rest} if name and not rest:
            return AttributeSet(values.text("the name", name, max_length=1000), values.encode(value), PATCH)
        case {"op": "skip", "step": str(step_id), **rest} if not rest:
            step = builder.flow.state.steps.get(step_id)
            if step is not None and step.status == "pending":
                return StepSkipped(step_id, SKIPPED)
            found = "is not in the plan" if step is None else f"is {step.status}"
            raise _refused(place, f"step '{step_id}' {found}", "only a pending step can be skipped")
        case _:
            fix = 'use {"op": "set", "name": …, "value": …} or {"op": "skip", "step": …}'
            raise _refused(place, f"operation {place} is not understood", fix)


def _refused(place: int, what: str, fix: str) -> InvalidInput:
    return InvalidInput(
        "goals.bad_patch", what, fix=fix, flaws=[Flaw("goals.bad_patch", f"/{place}", f"{what}; {fix}")]
    )
