"""Events of a run towards goals, beside those that the kernel records for every run.

The kernel's own events stand for some of the dialect's names: `run.started` is `flow_started` and carries the plan,
`run.completed`, `run.failed` and `run.cancelled` are the outcome, `task.retry_scheduled` is a `work_not_completed` with
its `retry_scheduled`, `task.late` is a `late_result`, and the rollback's steps are the `comp_…` of a run that failed.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from plait.dialects.goals.steps.step import Step
from plait.kernel.errors import ErrorInfo
from plait.kernel.events import Event
from plait.kernel.ids import Millis
from plait.kernel.values import NULL


class StepPrepared(Event, frozen=True, tag="step_prepared"):
    """The result of the scripts that run before a step."""

    step_id: str
    inputs: Raw = NULL
    """Mapped inputs by inner name; an object."""
    run: bool = True
    keep: list[int] | None = None
    """The items that its predicate accepts; None: all."""
    error: str = ""


class InputMatched(Event, frozen=True, tag="input_matched"):
    step_id: str
    name: str
    index: int
    """The index of the candidate among the values of the name."""
    matched: bool
    error: str = ""


class InputWaited(Event, frozen=True, tag="input_waited"):
    """An optional input is awaited until the given time."""

    step_id: str
    name: str
    until: Millis


class InputClosed(Event, frozen=True, tag="input_closed"):
    """An optional input is no longer awaited."""

    step_id: str
    name: str


class StepStarted(Event, frozen=True, tag="step_started"):
    step_id: str
    inputs: Raw
    """Inputs by inner name; an object."""
    work_items: dict[str, Raw]
    """Token -> the item's values of the fan-out by outer name. Empty where they follow from the inputs: for an only
    item, and for large values, which are stored once."""
    dropped: list[int] = []
    """Places in the fan-out that the predicate refused."""
    total: int = 1
    """The number of items before any was dropped: it determines the shape of the outputs."""


class WorkStarted(Event, frozen=True, tag="work_started"):
    step_id: str
    token: str


class WorkAccepted(Event, frozen=True, tag="work_accepted"):
    """A step server accepted the work, and will answer by webhook."""

    step_id: str
    token: str
    attempt: int = 1


class WorkReturned(Event, frozen=True, tag="work_returned"):
    """Raw outputs that a script must map before the work has succeeded."""

    step_id: str
    token: str
    outputs: Raw = NULL
    memo: bool = False


class WorkSucceeded(Event, frozen=True, tag="work_succeeded"):
    step_id: str
    token: str
    outputs: Raw = NULL
    """An object: declared outputs by outer name, and whatever else was returned."""
    memo: bool = False
    attempts: int = 1


class WorkFailed(Event, frozen=True, tag="work_failed"):
    step_id: str
    token: str
    error: str
    attempts: int = 1
    cause: ErrorInfo | str = ""
    """The error of a child run that did not complete. A sentence in logs of older versions."""


class LateResult(Event, frozen=True, tag="late_result"):
    """The answer of an item that had already ended: kept, but without effect."""

    step_id: str
    token: str
    outputs: Raw = NULL
    error: str = ""


class AttributeSet(Event, frozen=True, tag="attribute_set"):
    name: str
    value: Raw
    provider: str


class StepCompleted(Event, frozen=True, tag="step_completed"):
    step_id: str
    outputs: Raw
    duration: int = 0


class StepFailed(Event, frozen=True, tag="step_failed"):
    step_id: str
    error: str
    unsatisfied: list[str] = []


class StepSkipped(Event, frozen=True, tag="step_skipped"):
    step_id: str
    reason: str
    unsatisfied: list[str] = []


class FlowDeactivated(Event, frozen=True, tag="flow_deactivated"):
    """The outcome is decided, and nothing is in flight any more."""

    status: str


class FlowResumed(Event, frozen=True, tag="flow_resumed"):
    """These steps are retried."""

    steps: list[str]
    restarted: list[str] | None = None
    """Those that restart because a value they were given was withdrawn. None in logs of older releases: those whose
    input has no value left."""
    renewed: dict[str, str] = {}
    """Work that was compensated and is done again: its token, and that of the new work."""


class FlowForked(Event, frozen=True, tag="flow_forked"):
    source: str
    at: int
    attributes: dict[str, Any] = {}
    steps: dict[str, Step] = {}


class CompStarted(Event, frozen=True, tag="comp_started"):
    """An item of a failed step is being compensated while the run continues."""

    step_id: str
    token: str


class CompSucceeded(Event, frozen=True, tag="comp_succeeded"):
    step_id: str
    token: str


class CompFailed(Event, frozen=True, tag="comp_failed"):
    step_id: str
    token: str
    error: str


GoalsEvent = (
    StepPrepared
    | InputMatched
    | InputWaited
    | InputClosed
    | StepStarted
    | WorkStarted
    | WorkAccepted
    | WorkReturned
    | WorkSucceeded
    | WorkFailed
    | LateResult
    | AttributeSet
    | StepCompleted
    | StepFailed
    | StepSkipped
    | FlowDeactivated
    | FlowResumed
    | FlowForked
    | CompStarted
    | CompSucceeded
    | CompFailed
)
