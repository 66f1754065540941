"""What only this dialect shows of a run: the values of its attributes, its plan, and how the plan turned out.

These are the `details` of a run's view. They are part of the OpenAPI document, from which the web UI gets its types.
"""

from __future__ import annotations

from typing import Any

import msgspec

from plait.dialects.goals.planning.plan import Excluded
from plait.kernel import values
from plait.kernel.ids import Millis

from .flow import Flow
from .state import INIT, PATCH, Value


class AttributeValue(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    value: Any
    step: str = INIT
    """The step that provided it; absent if it was given at the start."""
    set_at: Millis


class PlanDiff(msgspec.Struct, frozen=True):
    """The plan beside what really ran."""

    planned: list[str]
    completed: list[str]
    failed: list[str]
    skipped: dict[str, str]
    """Skipped steps with their reasons."""
    not_started: list[str]
    winners: dict[str, str]
    """Name -> the step that provided it first."""
    late: dict[str, list[str]]
    """Name -> the steps that provided it later."""


class PlanSummary(msgspec.Struct, frozen=True):
    goals: list[str]
    required: list[str]
    excluded: Excluded
    warnings: list[str]


class GoalsDetails(msgspec.Struct, frozen=True):
    attributes: dict[str, list[AttributeValue]]
    """Every value of each name, starting with the one that counts."""
    plan_diff: PlanDiff
    plan: PlanSummary


def run_details(flow: Flow) -> dict[str, Any]:
    plan = flow.state.plan
    found = GoalsDetails(
        attributes={name: list(map(_shown, found)) for name, found in sorted(flow.state.attributes.items())},
        plan_diff=plan_diff(flow),
        plan=PlanSummary(plan.goals, plan.required, plan.excluded, plan.warnings),
    )
    return msgspec.to_builtins(found)


def _shown(value: Value) -> AttributeValue:
    return AttributeValue(value=values.decode(value.value), step=value.step, set_at=value.set_at)


def plan_diff(flow: Flow) -> PlanDiff:
    steps = flow.state.steps
    by_status: dict[str, list[str]] = {"completed": [], "failed": [], "pending": []}
    for step_id, step in steps.items():
        by_status.setdefault(step.status, []).append(step_id)
    given = {name: [each.step for each in found] for name, found in sorted(flow.state.attributes.items())}
    return PlanDiff(
        planned=list(steps),
        completed=by_status["completed"],
        failed=by_status["failed"],
        skipped={step_id: step.reason for step_id, step in steps.items() if step.status == "skipped"},
        not_started=by_status["pending"],
        winners={name: found[0] for name, found in given.items() if found[0] not in (INIT, PATCH)},
        late={name: found[1:] for name, found in given.items() if len(found) > 1},
    )
