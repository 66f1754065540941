"""The resolution of a step's input: whether it is available now, may still come, or never will; and its value.

Candidates are the values of its name, in order of arrival, init's among them; `match` lets only some of them count.
"""

from __future__ import annotations

from typing import Literal, assert_never

import msgspec
from msgspec import Raw

from plait.kernel.ids import caller_id
from plait.kernel.machine import RunInfo

from .compiled_plan import StepPlan, Wanted
from .flow import Flow
from .state import StepState, Value

Resolution = Literal["resolved", "open", "lost", "unmatched", "refused"]
"""lost: no provider is left. unmatched: there are values, but none that it accepts. refused: it requires the absence of
a value, and there is one."""

PER_ITEM = ("receipt_token", "webhook_url")
"""Meta inputs that differ from item to item."""

_encode = msgspec.json.Encoder().encode


def resolution(flow: Flow, step: StepState, wanted: Wanted) -> Resolution:
    values = flow.state.attributes.get(wanted.name, [])
    if wanted.collect == "first" and wanted.match is None:  # by far the most common
        return "resolved" if values else "open" if _may_come(flow, wanted.name) else "lost"
    good = candidates(step, wanted, values)
    undecided = wanted.match is not None and len(step.matches.get(wanted.name, ())) < len(values)
    more = undecided or _may_come(flow, wanted.name)
    match wanted.collect:
        case "first":
            return "resolved" if good else "open" if more else _empty(values)
        case "last" | "some":
            return "open" if more else "resolved" if good else _empty(values)
        case "all":
            return _all(flow, step, wanted, more)
        case "none":
            if good:
                return "refused" if wanted.match is None else "unmatched"
            return "open" if more else "resolved"
        case _:
            assert_never(wanted.collect)


def candidates(step: StepState, wanted: Wanted, values: list[Value]) -> list[Value]:
    """The values that count for the input."""
    if wanted.match is None:
        return values
    judged = step.matches.get(wanted.name, {})
    return [value for index, value in enumerate(values) if judged.get(index)]


def value_of(flow: Flow, step: StepState, wanted: Wanted) -> Raw | None:
    """The value that the step gets if it starts now; None if there is none, not even a default."""
    values = flow.state.attributes.get(wanted.name, [])
    good = values if wanted.match is None else candidates(step, wanted, values)
    match wanted.collect:
        case "first":
            return good[0].value if good else wanted.default
        case "last":
            return good[-1].value if good else wanted.default
        case "some":
            return _listed(good) if good else wanted.default
        case "all":
            return _listed(good) if resolution(flow, step, wanted) == "resolved" else wanted.default
        case "none":
            return None if good else wanted.default
        case _:
            assert_never(wanted.collect)


def undecided(flow: Flow, plan: StepPlan, step: StepState) -> bool:
    """Whether a `match` may still succeed or fail: until then the step asks for nothing else."""
    return any(resolution(flow, step, each) == "open" for each in plan.matched)


def still_wants(flow: Flow, plan: StepPlan, step: StepState, name: str, *, now: bool) -> bool:
    """Whether a pending step can use a value of that name; `now`: even while its matches are undecided."""
    waits_for_match = now and bool(plan.matched) and undecided(flow, plan, step)
    return any(
        each.name == name
        and each.name not in step.closed
        and resolution(flow, step, each) == "open"
        and not (waits_for_match and each.match is None)
        for each in plan.inputs
    )


def _may_come(flow: Flow, name: str) -> bool:
    return flow.givers[name] > 0


def _all(flow: Flow, step: StepState, wanted: Wanted, more: bool) -> Resolution:
    values = flow.values(wanted.name)
    if not all(step.matches.get(wanted.name, {}).values()):
        return "unmatched"
    givers = {value.step for value in values}
    providers = flow.compiled.providers[wanted.name]
    if any(flow.state.steps[each].ended and each not in givers for each in providers):
        return "lost"
    return "open" if more else "resolved" if values else "lost"


def _empty(values: list[Value]) -> Resolution:
    return "unmatched" if values else "lost"


def _listed(values: list[Value]) -> Raw:
    return Raw(_encode([each.value for each in values]))


# -- the inputs of a step when it starts -------------------------------------------------------------------------------


def gathered_inputs(flow: Flow, plan: StepPlan, info: RunInfo) -> dict[str, Raw]:
    """Inputs by outer name; an optional input without a value and without a default is left out."""
    step = flow.state.steps[plan.id]
    found: dict[str, Raw] = {}
    for wanted in plan.inputs:
        value = value_of(flow, step, wanted)
        if value is not None:
            found[wanted.name] = value
    if plan.constants:
        found.update(plan.constants)
    for name, key in plan.metas:
        value = _meta(flow, plan, info, key)
        if value is not None:
            found[name] = Raw(_encode(value))
    return found


def by_inner_name(plan: StepPlan, inputs: dict[str, Raw]) -> dict[str, Raw]:
    return {plan.inner[name]: value for name, value in inputs.items()}


def _meta(flow: Flow, plan: StepPlan, info: RunInfo, key: str) -> str | None:
    if key in PER_ITEM:
        return None
    facts = {
        "flow_id": caller_id(info.run_id),
        "step_id": plan.id,
        "parent_flow_id": None if info.parent is None else caller_id(info.parent),
        "parent_step_id": flow.state.parent_step or None,
        "parent_work_item_token": info.parent_token if flow.state.parent_step else None,
    }
    return facts[key] if key in facts else info.labels.get(key)
