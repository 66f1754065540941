"""Patching the steps of a running run: all or nothing, and never so that work in flight loses its place."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from plait.kernel.errors import Conflict, InvalidInput
from plait.kernel.inputs import Message, Patch

from .decision_builder import DecisionBuilder
from .events import StepsPatched
from .operations import applied, touched
from .plans import Plans
from .refs_run import RefsRun

_decode = msgspec.json.Decoder().decode


def patch(builder: DecisionBuilder, given: Patch, plans: Plans) -> None:
    check(builder.run, given.operations, plans)
    builder.record(StepsPatched(given.operations, given.by))


def check(run: RefsRun, operations: list[dict[str, Any]], plans: Plans) -> None:
    """Refuses operations that can't be applied, that make the definition invalid, or that change what has started."""
    changed = applied(_decode(bytes(run.state.definition)), operations)
    for name in touched(operations):
        work = run.state.steps.get(name)
        if work is not None and work.status in ("running", "completed"):
            raise Conflict(
                "step_in_use",
                f'step "{name}" has begun' if work.status == "running" else f'step "{name}" has completed',
                why="only steps that have not started, were skipped or failed can be changed",
                fix="fork the run before that step",
            )
    made = plans.made(changed)
    if bytes(made.plan.definition) == bytes(run.state.definition):
        raise Conflict("nothing_to_patch", "the run is like that already", fix="look at the run again")


def preset(builder: DecisionBuilder, message: Message, plans: Plans) -> None:
    """Applies a message that sets the result of a step which has not started: `{"stepName", "output"}`."""
    body: Any = _decode(message.body)
    fields = cast("dict[str, Any]", body) if isinstance(body, dict) else {}
    name = fields.get("stepName")
    if not isinstance(name, str) or "output" not in fields:
        raise InvalidInput("bad_preset", "a preset needs `stepName` and `output`", fix='send {"stepName", "output"}')
    operations = [{"op": "set_preset", "name": name, "output": fields["output"]}]
    check(builder.run, operations, plans)
    builder.record(StepsPatched(operations))


def refuse(message: Message) -> InvalidInput:
    return InvalidInput(
        "unknown_message", f"the run takes no message `{message.name}`", fix="send `preset`; a recording takes more"
    )
