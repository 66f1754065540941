"""The log in three event names, for clients of an earlier step format: section 6 of the spec."""

from __future__ import annotations

from typing import Final

from plait.kernel.events import Recorded

FEED: Final = "compat"

_CREATED = "workflow.execution.created"
_EXECUTE = "workflow.step.execute"
_COMPLETED = "workflow.step.completed"

_NAMES: Final = {
    "refs.started": _CREATED,
    "refs.resumed": _CREATED,
    "step.started": _EXECUTE,
    "step.completed": _COMPLETED,
    "step.skipped": _COMPLETED,
    "step.failed": _COMPLETED,
}


def compat(event: Recorded) -> Recorded | None:
    name = _NAMES.get(event.type)
    if name is None:
        return None
    step, index = event.data.get("step"), event.data.get("index")
    told = {} if name == _CREATED else {"stepName": step}
    if index is not None:
        told["iterationIndex"] = index
    return Recorded(event.seq, event.at, name, told)
