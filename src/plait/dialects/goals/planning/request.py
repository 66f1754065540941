"""A caller's request: goals and init, parsed and checked against their limits; and whether its plan can be started.

Preview and start share it; preview shows the gaps of a plan, a start refuses them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

import msgspec
from msgspec import Raw

from plait.agents.agent_step import UNPRICED_FIX
from plait.agents.models import Models
from plait.dialects.goals import limits
from plait.dialects.goals.errors import BadRequest, ChildInputsMissing, InputsMissing, NoGoals, OverLimit, Unpriced
from plait.kernel import values

from .plan import Plan


class Request(msgspec.Struct, frozen=True):
    goals: tuple[str, ...]
    init: dict[str, Any]
    raw_init: Raw
    """Init as JSON."""


def read_request(goals: object, init: object) -> Request:
    """Parses a request. Names in init that no step uses are kept."""
    if init is not None and not isinstance(init, Mapping):
        raise BadRequest("/input", "init is no object", "send one of names and values")
    given = dict(cast("Mapping[str, Any]", init or {}))
    if len(given) > limits.INIT_NAMES:
        raise OverLimit("init", len(given), limits.INIT_NAMES, "names", "put several values into one object")
    request = Request(read_goals(goals), given, values.encode(given))
    size = len(values.encode(request.goals)) + len(request.raw_init)
    if size > limits.RUN_BYTES:
        raise OverLimit("the run", size, limits.RUN_BYTES, "bytes", "store large values elsewhere and pass references")
    return request


def read_goals(goals: object) -> tuple[str, ...]:
    """Removes duplicates, and keeps the order."""
    if not isinstance(goals, list | tuple):
        fix = "send a list of step ids"
        raise NoGoals if goals is None else BadRequest("/definition/goals", "goals are no list", fix)
    sent = cast("list[object]", goals)
    for index, goal in enumerate(sent):
        if not isinstance(goal, str):
            raise BadRequest(f"/definition/goals/{index}", "a goal is no string", "send step ids")
    found = tuple(dict.fromkeys(cast("list[str]", goals)))
    if not found:
        raise NoGoals
    if len(found) > limits.GOALS:
        raise OverLimit("the run", len(found), limits.GOALS, "goals", "name fewer, or split the run")
    return found


def label_of(goals: Iterable[str]) -> str:
    """The name shown in lists of runs."""
    return ", ".join(goals)


def check_start(plan: Plan) -> None:
    """Raises if the run, or a child of its flow steps, has an input without a source."""
    if plan.required:
        raise InputsMissing(plan.required)
    if plan.children:
        _check_children(plan)


def check_prices(plan: Plan, models: Models) -> None:
    """Raises if an agent's budget in USD can't be enforced, in the run or in its children."""
    for step in plan.steps.values():
        if step.agent is not None and (what := step.agent.unpriced(models)):
            raise Unpriced(step.id, what, UNPRICED_FIX)
    for child in plan.children.values():
        check_prices(child, models)


def _check_children(plan: Plan) -> None:
    for step_id, child in plan.children.items():
        if child.required:
            raise ChildInputsMissing(step_id, child.required)
        _check_children(child)
