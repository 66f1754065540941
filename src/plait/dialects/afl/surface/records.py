"""Steps and AFL events of a run, as the HTTP API shows them."""

from __future__ import annotations

from typing import Any

import msgspec

from plait.api.shape import Shape
from plait.dialects.afl.running.state import EventRecord, StepRecord
from plait.kernel import values
from plait.kernel.ids import Millis


class ShownStep(Shape, frozen=True, kw_only=True):
    id: str
    object_type: str
    workflow_id: str
    statement_id: str
    statement_name: str
    container_type: str
    container_id: str
    block_id: str
    root_id: str
    facet_name: str
    state: str
    attributes: dict[str, Any]
    """`params` and `returns`."""
    error: Any = None
    workflow_version: str
    step_schema_version: str
    runtime_version: str


class ShownEvent(Shape, frozen=True, kw_only=True):
    event_id: str
    event_type: str
    step_id: str
    workflow_id: str
    payload: Any
    state: str
    attempt: int
    result: Any = None
    error: Any = None
    created_at: Millis
    ended_at: Millis | None = None
    workflow_version: str
    step_schema_version: str
    runtime_version: str


class StepList(Shape, frozen=True, kw_only=True):
    steps: list[ShownStep]


class EventList(Shape, frozen=True, kw_only=True):
    events: list[ShownEvent]


def shown_step(record: StepRecord) -> ShownStep:
    names = set(ShownStep.__struct_fields__) - {"attributes", "error"}
    return ShownStep(
        **{name: getattr(record, name) for name in names},
        attributes={"params": record.params, "returns": record.returns},
        error=None if record.error is None else msgspec.to_builtins(record.error),
    )


def shown_event(record: EventRecord) -> ShownEvent:
    names = set(ShownEvent.__struct_fields__) - {"payload", "result", "error"}
    return ShownEvent(
        **{name: getattr(record, name) for name in names},
        payload=values.decode(record.payload),
        result=values.decode(record.result),
        error=None if record.error is None else msgspec.to_builtins(record.error),
    )
