"""The events of the dialect: section 6 of the spec."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Raw

from plait.dialects.refs.definition.action import Kind
from plait.dialects.refs.definition.source import Mode
from plait.kernel.errors import ErrorInfo
from plait.kernel.events import Event
from plait.kernel.ids import Millis
from plait.kernel.values import ABSENT, NULL


class RefsStarted(Event, frozen=True, tag="refs.started"):
    hash: str
    mode: Mode
    input: Raw
    presets: list[str] = []
    """Steps with preset results."""
    parent: str | None = None
    depth: int = 0
    start_at: Millis | None = None
    """The time until which its steps wait."""


class RefsBegun(Event, frozen=True, tag="refs.begun"):
    """The time of a delayed start has come."""


class StepStarted(Event, frozen=True, tag="step.started"):
    step: str
    kind: Kind
    input: Raw = ABSENT
    index: int | None = None
    unresolved: list[str] = []


class StepRaw(Event, frozen=True, tag="step.raw"):
    step: str
    raw: Raw
    index: int | None = None
    attempts: int = 1


class StepCompleted(Event, frozen=True, tag="step.completed"):
    step: str
    output: Raw = NULL
    index: int | None = None
    attempts: int = 1
    preset: bool = False
    late: bool = False


class StepSkipped(Event, frozen=True, tag="step.skipped"):
    step: str
    condition: Raw
    value: Raw = NULL


class StepFailed(Event, frozen=True, tag="step.failed"):
    step: str
    error: ErrorInfo
    index: int | None = None
    attempts: int = 1
    late: bool = False


class ForeachOpened(Event, frozen=True, tag="foreach.opened"):
    step: str
    count: int
    concurrency: int


class StepsPatched(Event, frozen=True, tag="steps.patched"):
    ops: list[dict[str, Any]]
    by: str = ""


class RefsResumed(Event, frozen=True, tag="refs.resumed"):
    scope: Literal["failed", "downstream"]
    rerun: list[str]
    renewed: list[str] = []
    """Ids, of those above, that get another idempotency key."""
    recomputed: list[str] = []
    stale: list[str] = []
    deadline: Millis | None = None


class RefsForked(Event, frozen=True, tag="refs.forked"):
    source: str
    at: int
    ops: list[dict[str, Any]] = []


class CallRecorded(Event, frozen=True, tag="call.recorded", kw_only=True):
    """A tool call of a recording, or a result that was set there, as a new step."""

    step: str
    tool: str = ""
    server: str = ""
    input: Raw
    """The stored form, with references."""
    session: str = ""
    call: str = ""
    asks: bool = False
    """Whether its sender waits for the result."""
    read_only: bool | None = None
    preset: bool = False


class CallRejected(Event, frozen=True, tag="call.rejected"):
    call: str
    tool: str
    code: str
    message: str
    session: str = ""


class InputMerged(Event, frozen=True, tag="input.merged"):
    fields: Raw


class RefsEnded(Event, frozen=True, tag="refs.ended"):
    how: Literal["all", "return", "bail", "stop"]
    output: Raw = NULL
    step: str = ""
    returns: Raw = ABSENT
    """The output of a recording as given, with references."""


RefsEvent = (
    RefsStarted
    | RefsBegun
    | StepStarted
    | StepRaw
    | StepCompleted
    | StepSkipped
    | StepFailed
    | ForeachOpened
    | StepsPatched
    | RefsResumed
    | RefsForked
    | RefsEnded
    | CallRecorded
    | CallRejected
    | InputMerged
)
