"""What follows from a decision. Effects are committed with its events and acted on only afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from msgspec import Raw

from .approval import Escalation
from .errors import ErrorInfo, PlaitError
from .events import Event
from .ids import Millis, RunId, TaskToken
from .run_queues import ChildQueueing
from .task import Task
from .values import ABSENT, NULL


class CancelTask(msgspec.Struct, frozen=True, gc=False):
    token: TaskToken


class FailTask(msgspec.Struct, frozen=True, gc=False):
    """A task that had succeeded turns out to have failed, for example because the work it requested was never done: its
    attempt counts as failed, and its policy decides what follows."""

    task: Task
    attempt: int
    error: ErrorInfo


class AwaitResult(msgspec.Struct, frozen=True, gc=False):
    """The work was accepted elsewhere and is reported later: the attempt stays in flight until its `TaskResult` arrives
    in the inbox, though nothing here executes it. The machine sets the timer."""

    task: Task
    attempt: int


class AddDeadLetter(msgspec.Struct, frozen=True, gc=False):
    """Something failed for good and waits for a person; the machine records it by its own event."""

    token: TaskToken
    label: str
    attempts: int
    error: ErrorInfo


class RetryTask(msgspec.Struct, frozen=True, gc=False):
    """Starts the next attempt of a task now: the answer to `RetryDue`, at once or later."""

    token: TaskToken


class SetTimer(msgspec.Struct, frozen=True, gc=False):
    token: TaskToken
    due: Millis


class ClearTimer(msgspec.Struct, frozen=True, gc=False):
    token: TaskToken


class StartChild(msgspec.Struct, frozen=True, gc=False):
    """Starts a run of any dialect. It is resolved after the decision and before the commit; a refusal comes back as the
    child's failure."""

    token: TaskToken
    run_id: RunId
    dialect: str
    """Empty: a name in any dialect."""
    definition: Any
    """`name`, `name@version-or-tag`, or the definition itself as JSON."""
    input: Raw = NULL
    deadline: Millis | None = None
    labels: dict[str, str] = {}
    resolved: Resolution | None = None
    """Given if the parent already knows what resolving would return."""
    announces: bool = False
    """The parent gets `ChildStarted` once the child has started."""
    independent: bool = False
    """The child is not compensated with its parent."""
    queueing: ChildQueueing | None = None
    """The queue that the child waits on first. Checked when it is resolved; a duplicate is refused."""


class Resolution(msgspec.Struct, frozen=True, gc=False):
    """What a child is started with, beside its input."""

    definition: str
    version: str | None = None
    data: Any = None


class CancelChild(msgspec.Struct, frozen=True, gc=False):
    run_id: RunId
    reason: str = "its parent ended"


class SendMessage(msgspec.Struct, frozen=True, gc=False):
    """Sends a message to another run; `key` deduplicates. If that run is unknown or ended, the message becomes a dead
    letter."""

    key: str
    run_id: RunId
    name: str
    body: Raw = NULL


class RequestApproval(msgspec.Struct, frozen=True, gc=False):
    """Requests an approval. The answer is `Decided`, once enough people have approved or one rejects."""

    token: TaskToken
    title: str
    by: str = ""
    deadline: Millis | None = None
    """Shown to people; the machine sets the timer."""
    form: Raw = ABSENT
    evidence: Raw = ABSENT
    required: int = 1
    approvers: tuple[str, ...] = ()
    """Who may decide; empty: anyone with the permission."""
    escalations: tuple[Escalation, ...] = ()
    """Approvers added level by level while nobody decides."""
    service: str = ""
    """A service to notify, once for each approver."""


class WithdrawApproval(msgspec.Struct, frozen=True, gc=False):
    """Closes an approval that is no longer needed, has expired, or was decided in another way."""

    token: TaskToken
    status: Literal["withdrawn", "expired", "approved"] = "withdrawn"
    by: str = ""
    """Who approved it instead."""


class Answer(msgspec.Struct, frozen=True, gc=False):
    """Replies to a message whose answer could not be given at once."""

    key: str
    body: Raw = NULL
    refusal: PlaitError | None = None
    """Sent instead, if the request failed."""


class Block(msgspec.Struct, frozen=True, gc=False):
    """The run can't continue with the loaded code (None: it can again). Its status stays `running`."""

    error: ErrorInfo | None


class Compensate(msgspec.Struct, frozen=True, gc=False):
    """Retries a compensator that failed for good, in an ended run that had continued after the failure."""

    token: TaskToken


class Finish(msgspec.Struct, frozen=True, gc=False):
    status: Literal["completed", "failed"]
    output: Raw = NULL
    error: ErrorInfo | None = None
    data: Any = None
    """Dialect data for the `run.failed` event."""
    partial: bool = False
    """Completed, although some steps failed."""


Effect = (
    Task
    | CancelTask
    | FailTask
    | AwaitResult
    | AddDeadLetter
    | RetryTask
    | SetTimer
    | ClearTimer
    | StartChild
    | CancelChild
    | SendMessage
    | RequestApproval
    | WithdrawApproval
    | Answer
    | Block
    | Compensate
    | Finish
)


class Decision(msgspec.Struct, gc=False):
    """Events and effects, committed together or not at all."""

    events: list[Event] = []
    effects: list[Effect] = []
    more: bool = False
    """Ask the machine again, with `Continue`, right after the commit."""
    reopen: str | None = None
    """Why the machine reopens an ended run; None: it does not."""
    retried: Sequence[TaskToken] = ()
    """Tasks whose dead letters that retries."""
    reply: Raw | None = None
    """The reply to the sender of an inbox input."""
    replies_later: bool = False
    """The sender keeps waiting: a later decision gives an `Answer`."""
    refusal: PlaitError | None = None
    """The input is refused, and the refusal is recorded: the events are kept, and the sender gets this error."""
