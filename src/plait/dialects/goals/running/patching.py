"""A run changed by a person: a value that nobody gives is set, a step that need not run is skipped."""

from __future__ import annotations

from typing import Any

from plait.kernel import values
from plait.kernel.errors import Flaw, InvalidInput

from .decision_builder import DecisionBuilder
from .events import AttributeSet, StepSkipped
from .state import PATCH

SKIPPED = "skipped by a patch"


def patch(builder: DecisionBuilder, operations: list[dict[str, Any]]) -> None:
    """All of them or none."""
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
