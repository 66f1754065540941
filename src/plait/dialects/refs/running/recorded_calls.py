"""What a recording knows of its steps beside what every run does, and the plan that grows with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec
from msgspec import Raw

from plait.dialects.refs.definition.action import Action
from plait.dialects.refs.definition.plan import Plan, StepPlan
from plait.dialects.refs.definition.source import Config
from plait.dialects.refs.references.heads import heads
from plait.kernel.task_inputs import EMPTY

_CONFIG = Config(on_error="continue", on_interrupt="fail")
"""A failed call is a failed step, and nothing more. An interrupted one is not repeated: its caller decides."""
_decode = msgspec.json.Decoder().decode


class RecordedCall(msgspec.Struct, omit_defaults=True, gc=False):
    """A tool call, or a result that was set. Mutable, like all of the state."""

    tool: str = ""
    """Empty for a preset that stands for no call."""
    server: str = ""
    input: Raw = EMPTY
    """The stored form, with references."""
    session: str = ""
    caller: str = ""
    """The key of the message whose sender waits for the result; empty if none does."""
    read_only: bool | None = None
    """Whether its tool is annotated as read-only; None if unknown."""
    began: int = 0
    ended: int = 0
    """The numbers of the events that started and ended it."""


def own_plan(plan: Plan, calls: Mapping[str, RecordedCall]) -> Plan:
    """A plan that no other run shares, with the steps that were recorded."""
    found = replace(plan, steps={})
    for name, call in calls.items():
        grow(found, name, call)
    return found


def grow(plan: Plan, name: str, call: RecordedCall) -> StepPlan:
    """Appends a step."""
    input: Any = _decode(call.input)
    needs = frozenset(heads(input) & plan.steps.keys())
    step = StepPlan(
        name=name,
        position=len(plan.steps),
        action=Action("tool", call.tool),
        input=input,
        when=None,
        bail=None,
        for_each=None,
        reads=needs,
        needs=needs,
        config=_CONFIG,
        schema=None,
        compensator=None,
    )
    plan.add(step)
    return step
