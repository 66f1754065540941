"""Plans: what a flow would do."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from plait.dialects.goals.definition import Goals
from plait.dialects.goals.errors import BadRequest, NoGoals
from plait.dialects.goals.planning.plan import Plan

from .ids import cleaned_list
from .route import NAMESPACE, Ask, MountRoute, Said
from .steps import shown


def shown_plan(plan: Plan) -> dict[str, Any]:
    return {
        "goals": plan.goals,
        "required": plan.required,
        "steps": {step_id: shown(step) for step_id, step in plan.steps.items()},
        "attributes": plan.attributes,
        "excluded": plan.excluded,
        "children": {step_id: shown_plan(child) for step_id, child in plan.children.items()},
        "warnings": plan.warnings,
    }


def asked_of(body: dict[str, Any]) -> tuple[Goals, dict[str, Any]]:
    """Returns the goals and the first value of each given name; the engine checks the rest."""
    given = _init(body.get("init"))
    more = {name: found[1:] for name, found in given.items() if len(found) > 1}
    return Goals(_goals(body.get("goals")), more), {name: found[0] for name, found in given.items()}


def _goals(sent: object) -> tuple[str, ...]:
    if sent is None:
        raise NoGoals
    found = cleaned_list(sent, "goals")
    if not isinstance(found, list):
        raise BadRequest("/goals", "goals must be a list", "send a list of step ids")
    return tuple(cast("list[str]", found))


def _init(sent: object) -> dict[str, list[Any]]:
    """Reads names with lists of values. A value that is not a list counts as one value; an empty list as none."""
    if sent is None:
        return {}
    if not isinstance(sent, dict):
        raise BadRequest("/init", "init must be an object", "send names with lists of values")
    given = cast("dict[str, Any]", sent).items()
    lists = {name: cast("list[Any]", each) if isinstance(each, list) else [each] for name, each in given}
    return {name: found for name, found in lists.items() if found}


def shown_init(init: dict[str, Any], more: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return {name: [value, *more.get(name, [])] for name, value in init.items()}


async def plan(ask: Ask) -> Said:
    body = await ask.object()
    found = await ask.engine.plan(*asked_of(body), NAMESPACE)
    return Said(shown_plan(msgspec.convert(found.body, Plan)))


ROUTES = (MountRoute(method="POST", full_path="/engine/plan", handler=plan),)
