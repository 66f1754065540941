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
    """A task that had ended well turns out to have failed, for example because what it asked for never came: its
    attempt counts as failed, and its policy says what follows."""

    task: Task
    attempt: int
    error: ErrorInfo


class AwaitResult(msgspec.Struct, frozen=True, gc=False):
    """Whoever was asked has accepted the work, and reports it later: the attempt is under way until its `TaskResult`
    comes by the inbox, though nobody here is at it. The machine sets the timer."""

    task: Task
    attempt: int


class AddDeadLetter(msgspec.Struct, frozen=True, gc=False):
    """Something failed for good and waits for a person; the machine's own event tells of it."""

    token: TaskToken
    label: str
    attempts: int
    error: ErrorInfo


class RetryTask(msgspec.Struct, frozen=True, gc=False):
    """The next attempt of a task begins now: the answer to `RetryDue`, at once or later."""

    token: TaskToken


class SetTimer(msgspec.Struct, frozen=True, gc=False):
    token: TaskToken
    due: Millis


class ClearTimer(msgspec.Struct, frozen=True, gc=False):
    token: TaskToken


class StartChild(msgspec.Struct, frozen=True, gc=False):
    """A run of any dialect. It is resolved after the decision and before its commit; a refusal comes back as the
    child's failure."""

    token: TaskToken
    run_id: RunId
    dialect: str
    """Empty for a name of any dialect."""
    definition: Any
    """`name`, `name@version-or-tag`, or the definition itself as JSON."""
    input: Raw = NULL
    deadline: Millis | None = None
    labels: dict[str, str] = {}
    resolved: Resolution | None = None
    """Where the parent knows already what resolving would give."""
    announces: bool = False
    """The parent is to hear that it has started, as `ChildStarted`."""
    independent: bool = False
    """It goes its own way: it is not compensated with its parent."""
    queueing: ChildQueueing | None = None
    """It waits on a queue first. Checked when it is resolved; a duplicate is refused."""


class Resolution(msgspec.Struct, frozen=True, gc=False):
    """What a child is started with, beside its input."""

    definition: str
    version: str | None = None
    data: Any = None


class CancelChild(msgspec.Struct, frozen=True, gc=False):
    run_id: RunId
    reason: str = "its parent ended"


class SendMessage(msgspec.Struct, frozen=True, gc=False):
    """To another run; `key` deduplicates. A run that is unknown or ended makes it a dead letter."""

    key: str
    run_id: RunId
    name: str
    body: Raw = NULL


class RequestApproval(msgspec.Struct, frozen=True, gc=False):
    """People are asked; the answer comes as `Decided`, once as many have approved as are required, or one rejects."""

    token: TaskToken
    title: str
    by: str = ""
    deadline: Millis | None = None
    """For people to see; the machine sets the timer."""
    form: Raw = ABSENT
    evidence: Raw = ABSENT
    required: int = 1
    approvers: tuple[str, ...] = ()
    """Who may decide; empty: anyone with the right to."""
    escalations: tuple[Escalation, ...] = ()
    """Who may decide too when nobody has, level by level."""
    service: str = ""
    """Where a program is told of it, for each approver."""


class WithdrawApproval(msgspec.Struct, frozen=True, gc=False):
    """A decision of people is no longer wanted, did not come in time, or was made without them."""

    token: TaskToken
    status: Literal["withdrawn", "expired", "approved"] = "withdrawn"
    by: str = ""
    """Who approved it instead."""


class Answer(msgspec.Struct, frozen=True, gc=False):
    """To the sender of a message that asks: an answer that could not be given at once."""

    key: str
    body: Raw = NULL
    refusal: PlaitError | None = None
    """Given instead, if what was asked for could not be done."""


class Block(msgspec.Struct, frozen=True, gc=False):
    """The run can't go on with the code that is loaded (None: it can again). Its status stays `running`."""

    error: ErrorInfo | None


class Compensate(msgspec.Struct, frozen=True, gc=False):
    """A compensator of an ended run that failed for good while the run went on is tried again."""

    token: TaskToken


class Finish(msgspec.Struct, frozen=True, gc=False):
    status: Literal["completed", "failed"]
    output: Raw = NULL
    error: ErrorInfo | None = None
    data: Any = None
    """What the dialect wants to find in the `run.failed` event."""
    partial: bool = False
    """Completed, although some of its steps failed."""


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
    """Events and effects that are committed together or not at all."""

    events: list[Event] = []
    effects: list[Effect] = []
    more: bool = False
    """Ask the machine again, with `Continue`, right after the commit."""
    reopen: str | None = None
    """The machine takes up an ended run again, for this cause."""
    retried: Sequence[TaskToken] = ()
    """Tasks whose dead letters are settled by that."""
    reply: Raw | None = None
    """What the caller of an inbox input gets back."""
    replies_later: bool = False
    """The caller waits on: an `Answer` follows from a later decision."""
    refusal: PlaitError | None = None
    """The input is refused, and that is worth recording: the events are kept, and the caller gets this."""
