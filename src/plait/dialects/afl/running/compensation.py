"""The compensations of a run: completed events whose handler names a compensator, oldest first."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from plait.kernel import values
from plait.kernel.ids import RunId
from plait.kernel.task import Task

from .afl_run import AflRun
from .compensation_tokens import compensator_token
from .state import Binding, EventRecord
from .work import event_effect

_encode = msgspec.json.Encoder().encode


def compensations(run: AflRun, run_id: RunId) -> list[Task]:
    found: list[Task] = []
    bindings = run.state.start.bindings
    for id in run.state.done:
        event = run.state.events[id]
        binding = bindings.get(event.event_type) or Binding()
        if binding.compensate:
            found.append(_task(run, run_id, event, binding.compensate))
    return found


def _task(run: AflRun, run_id: RunId, event: EventRecord, facet: str) -> Task:
    payload = {**values.decode(event.payload), "result": values.decode(event.result)}
    undo = EventRecord(
        event_id=compensator_token(event.event_id),
        event_type=facet,
        step_id=event.step_id,
        workflow_id=event.workflow_id,
        payload=Raw(_encode(payload)),
    )
    task = event_effect(run_id, run.state.start.bindings, run.nodes[event.step_id], undo)
    assert isinstance(task, Task)
    task.label = f"compensate {event.event_type}"
    return task
