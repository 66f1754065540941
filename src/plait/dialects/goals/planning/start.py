"""Whether a plan can be started: preview shows the gaps of a plan, a start refuses them."""

from __future__ import annotations

from plait.dialects.goals.errors import ChildInputsMissing, InputsMissing

from .plan import Plan


def check_start(plan: Plan) -> None:
    """Raises for inputs that nobody brings, of the run or of a child of its flow steps."""
    if plan.required:
        raise InputsMissing(plan.required)
    _check_children(plan)


def _check_children(plan: Plan) -> None:
    for step_id, child in plan.children.items():
        if child.required:
            raise ChildInputsMissing(step_id, child.required)
        _check_children(child)
