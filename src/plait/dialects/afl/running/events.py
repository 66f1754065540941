"""The events of the dialect: section 6 of the spec.

Each carries the three versions; a version that a stored event lacks is the very first, `1.0` or `1.0.0`.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from plait.kernel.errors import ErrorInfo
from plait.kernel.events import Event
from plait.kernel.values import ABSENT, NULL

from .state import EventRecord, Judged, StepRecord


class AflLogEvent(Event, frozen=True, kw_only=True):
    """Base of all events of the dialect."""

    workflow_version: str = "1.0"
    step_schema_version: str = "1.0"
    runtime_version: str = "1.0.0"


class AflStarted(AflLogEvent, frozen=True, tag="afl.started"):
    workflow: str
    hash: str
    input: Raw
    bindings: dict[str, Any] = {}


class StepCreated(AflLogEvent, frozen=True, tag="afl.step.created"):
    step: StepRecord


class StepMoved(AflLogEvent, frozen=True, tag="afl.step.moved"):
    """All moves of one step in one iteration; the states between the two follow from its table."""

    step_id: str
    source: str
    to: str
    params: Raw = ABSENT
    """Changed values by name."""
    returns: Raw = ABSENT
    dependencies: list[str] = []
    """Steps that it waited for, and that were complete."""


class StepFailed(AflLogEvent, frozen=True, tag="afl.step.failed"):
    step_id: str
    state: str
    """The state in which it failed."""
    error: ErrorInfo


class StepCaught(AflLogEvent, frozen=True, tag="afl.step.caught"):
    step_id: str
    state: str
    error: ErrorInfo


class StepReopened(AflLogEvent, frozen=True, tag="afl.step.reopened"):
    step_id: str
    state: str
    """The state from which it continues."""


class StepUpdated(AflLogEvent, frozen=True, tag="afl.step.updated"):
    """Partial returns that an agent stored before its answer."""

    step_id: str
    returns: Raw
    message: str = ""


class WhenEvaluated(AflLogEvent, frozen=True, tag="afl.when.evaluated"):
    step_id: str
    cases: list[Judged]


class SysDone(AflLogEvent, frozen=True, tag="afl.sys"):
    step_id: str
    """The id of the block."""
    statement_id: str
    kind: str
    values: Raw = NULL


class Warned(AflLogEvent, frozen=True, tag="afl.warning"):
    step_id: str
    text: str


class EventCreated(AflLogEvent, frozen=True, tag="afl.event.created"):
    event: EventRecord


class EventCompleted(AflLogEvent, frozen=True, tag="afl.event.completed"):
    event_id: str
    step_id: str
    attempt: int
    result: Raw
    message: str = ""
    """The id of the message that answered it, if one did."""


class EventFailed(AflLogEvent, frozen=True, tag="afl.event.error"):
    event_id: str
    step_id: str
    attempt: int
    error: ErrorInfo


class EventWithdrawn(AflLogEvent, frozen=True, tag="afl.event.withdrawn"):
    """The run ended first: nobody waits for an answer."""

    event_id: str
    step_id: str


class ScriptCompleted(AflLogEvent, frozen=True, tag="afl.script.completed"):
    step_id: str
    result: Raw


class ScriptFailed(AflLogEvent, frozen=True, tag="afl.script.failed"):
    step_id: str
    error: ErrorInfo


class ContinueIgnored(AflLogEvent, frozen=True, tag="afl.continue.ignored"):
    step_id: str
    reason: str
    message: str = ""


class IterationEnded(AflLogEvent, frozen=True, tag="afl.iteration"):
    """The last event of its decision."""

    n: int
    created: int
    moved: int
    published: int
    again: bool = False
    paused: bool = False


class AflForked(AflLogEvent, frozen=True, tag="afl.forked"):
    source: str
    at: int
    results: dict[str, Any] = {}
    """By event: its result in the fork."""
    input: Raw = ABSENT
    """Replaces the input of the original run; the fork then begins at the start."""


AflEvent = (
    AflStarted
    | StepCreated
    | StepMoved
    | StepFailed
    | StepCaught
    | StepReopened
    | StepUpdated
    | WhenEvaluated
    | SysDone
    | Warned
    | EventCreated
    | EventCompleted
    | EventFailed
    | EventWithdrawn
    | ScriptCompleted
    | ScriptFailed
    | ContinueIgnored
    | IterationEnded
    | AflForked
)
