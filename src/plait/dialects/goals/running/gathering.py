"""What a step gets when it starts: attributes, defaults, constants, and facts about the run."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from plait.kernel.ids import caller_id
from plait.kernel.machine import RunInfo

from .compiled_plan import StepPlan
from .flow import Flow
from .input_resolution import value_of

_encode = msgspec.json.Encoder().encode
PER_ITEM = ("receipt_token", "webhook_url")
"""Meta inputs that only the caller of an item knows."""


def gathered_inputs(flow: Flow, plan: StepPlan, info: RunInfo) -> dict[str, Raw]:
    """By outer name; an optional input that nobody gave and that has no default is not there."""
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
