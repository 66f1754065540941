"""The dependencies of a step, with their reasons."""

from __future__ import annotations

from plait.dialects.refs.references.heads import INPUT, heads, places
from plait.dialects.refs.references.template import Ref

from .condition import Condition
from .plan import StepPlan


def edges_of(step: StepPlan, declared: frozenset[str]) -> list[tuple[str, str]]:
    """What a step needs, each with the reason: `data`, `when` or `order`."""
    found: dict[tuple[str, str], None] = {}
    for name in sorted(heads(step.input) & declared) + ([INPUT] if _reads_input(step) else []):
        found[name, "data"] = None
    if step.for_each is not None:
        found[step.for_each.ref.head, "data"] = None
    for condition in (step.when, step.bail):
        if isinstance(condition, Condition) and condition.ref.head != step.name:
            found[condition.ref.head, "when"] = None
    for name in sorted(step.needs - step.reads):
        found[name, "order"] = None
    return [each for each in found if each[0] in declared or each[0] == INPUT]


def _reads_input(step: StepPlan) -> bool:
    return any(isinstance(place.token, Ref) and place.token.head == INPUT for place in places(step.input))
