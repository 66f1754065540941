"""What a caller asks for: goals and init, read and held to their limits; and whether its plan can be started.

Preview and start read it alike; preview shows the gaps of a plan, a start refuses them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import msgspec

from plait.dialects.goals import limits
from plait.dialects.goals.errors import BadRequest, ChildInputsMissing, InputsMissing, NoGoals, OverLimit
from plait.kernel import values

from .plan import Plan


class Request(msgspec.Struct, frozen=True):
    goals: tuple[str, ...]
    init: dict[str, Any]


def read_request(goals: object, init: object) -> Request:
    """Duplicates among the goals are removed, their order is kept; names in init that nobody uses are kept."""
    request = Request(_goals(goals), _init(init))
    size = len(values.encode(request.goals)) + len(values.encode(request.init))
    if size > limits.RUN_BYTES:
        raise OverLimit("the run", size, limits.RUN_BYTES, "bytes", "store large values elsewhere and pass references")
    return request


def _goals(goals: object) -> tuple[str, ...]:
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


def _init(init: object) -> dict[str, Any]:
    if init is None:
        return {}
    if not isinstance(init, Mapping):
        raise BadRequest("/input", "init is no object", "send one of names and values")
    found = dict(cast("Mapping[str, Any]", init))
    if len(found) > limits.INIT_NAMES:
        raise OverLimit("init", len(found), limits.INIT_NAMES, "names", "put several values into one object")
    return found


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
