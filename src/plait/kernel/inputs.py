"""Inputs: what makes a machine decide. Those from outside the owner travel through the inbox as JSON."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Raw

from .errors import ErrorInfo
from .events import AttemptEvent
from .ids import Millis, RunId, TaskToken
from .journal import AnyWait
from .queued import Expiry
from .values import ABSENT, NULL

Purpose = Literal["message", "update", "query"]


class Input(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind", gc=False):
    """Base of all inputs."""


class Start(Input, frozen=True, tag="start"):
    dialect: str
    definition: str
    input: Raw = NULL
    version: str | None = None
    seed: int = 0
    deadline: Millis | None = None
    labels: dict[str, str] = {}
    data: Any = None
    announces: bool = False
    """The parent waits for `ChildStarted`."""
    independent: bool = False
    """Its parent neither ends it nor compensates its work."""
    by: str = ""
    reference: str = ""
    queue: str = ""
    priority: int = 0
    partition: str = ""


class TaskResult(Input, frozen=True, tag="task_result"):
    """The outcome of an attempt. The machine sees only final results; the kernel handles attempts."""

    token: TaskToken
    attempt: int
    output: Raw = ABSENT
    error: ErrorInfo | None = None
    retryable: bool = True
    progress: Raw = NULL
    queued: Millis = Millis(0)
    """Milliseconds that the attempt waited for a worker."""
    later: bool = False
    """The work was accepted; its result will come as a message."""
    opening: int = 0
    """For a queued task, the row that this result belongs to. 0: executed by the owner."""
    memo: bool = False
    """The worker returned a stored result and did not repeat the work."""


class KeepEntry(Input, frozen=True, tag="keep_entry"):
    """An attempt in flight adds an entry to its journal."""

    token: TaskToken
    attempt: int
    index: int
    """How many entries the attempt has seen: an entry at an outdated position is refused."""
    entry: Raw = NULL
    says: str = ""
    events: tuple[AttemptEvent, ...] = ()
    opening: int = 0


class Suspend(Input, frozen=True, tag="suspend"):
    """An attempt waits for something, and is started again once that has come."""

    token: TaskToken
    attempt: int
    wait: AnyWait
    says: str = ""
    opening: int = 0


class ClaimExpired(Input, frozen=True, tag="claim_expired"):
    """A claim ended: no heartbeat came from its worker for the length of its lease, or of the task's own limit."""

    token: TaskToken
    opening: int
    worker: str
    why: Expiry
    progress: Raw = NULL


class Rejected(Input, frozen=True, tag="rejected"):
    """A worker rejected the envelope of a task, or a result was not signed by one of our workers."""

    reason: str
    token: TaskToken = TaskToken("")
    opening: int = 0
    node: str = ""


class TimerFired(Input, frozen=True, tag="timer_fired"):
    token: TaskToken
    due: Millis | None = None
    """When the fired timer was due: if a timer of the same name was moved to a later time, it has not fired."""


class RetryDue(Input, frozen=True, tag="retry_due"):
    """The next attempt of a task may start. Only machines that gate retries are asked; otherwise it starts at once."""

    token: TaskToken


class Message(Input, frozen=True, tag="message"):
    id: str
    """Its key in the inbox."""
    name: str
    body: Raw = NULL
    sent_at: Millis = Millis(0)
    asks: bool = False
    """The sender waits for an answer: `Decision.reply`, or an `Answer` in a later decision."""
    purpose: Purpose = "message"
    """An `update` goes to one of the run's own handlers, or is refused; a `query` is answered by ended runs too, and
    changes nothing."""


class ChildStarted(Input, frozen=True, tag="child_started"):
    """The first decision of a child whose parent asked to be notified."""

    token: TaskToken
    run_id: RunId


class ChildFinished(Input, frozen=True, tag="child_finished"):
    token: TaskToken
    run_id: RunId
    status: Literal["completed", "failed", "cancelled", "refused"]
    output: Raw = NULL
    error: ErrorInfo | None = None
    compensable: bool = False
    """It did work that can be compensated."""
    compensation_failed: bool = False
    """One of its compensators failed for good."""


class CompensateChild(Input, frozen=True, tag="compensate_child"):
    """A parent that rolls back asks its child to compensate. The answer is `ChildFinished`."""

    parent: RunId
    token: TaskToken
    number: int
    """Number of the request: a parent may ask again."""


class Decided(Input, frozen=True, tag="decided"):
    """A person's vote on an approval. The machine gets the vote that decides it."""

    token: TaskToken
    decision: str
    by: str = ""
    comment: str = ""
    data: Raw = NULL
    evidence_hash: str = ""
    """Hash of the evidence that the person was shown."""


class Delegate(Input, frozen=True, tag="delegate"):
    """An approver delegates their vote to someone else."""

    token: TaskToken
    by: str
    to: str
    comment: str = ""


class Cancel(Input, frozen=True, tag="cancel"):
    reason: str = ""
    compensate: bool = False
    cause: Literal["cancel", "deadline", "limit"] = "cancel"
    error: ErrorInfo | None = None
    parent: RunId | None = None
    """The parent that cancels its child: a run with the same id and another parent is left alone."""


class Patch(Input, frozen=True, tag="patch"):
    """Changes the definition of this run."""

    operations: list[dict[str, Any]]
    by: str = ""
    base: int | None = None
    """The revision that the operations were made for; None: the current one."""
    agent: str = ""
    """The node of the agent that made the patch; such a patch may change less."""
    denied: str = ""
    """Why the patch is refused whatever it changes: its agent may not patch."""


class Resume(Input, frozen=True, tag="resume"):
    """A request to continue: `retry` what failed or is blocked, `rewind` to an earlier place, `settle` a dead letter,
    `compensate` an ended run, `requeue` a task whose row on a queue is lost."""

    mode: Literal["retry", "rewind", "settle", "compensate", "requeue", "continue"]
    """`continue` only occurs in inboxes of older databases; it means `Loaded("fork")`."""
    at: str | None = None
    token: TaskToken | None = None
    verdict: Literal["retry", "discard"] | None = None
    state: Raw = ABSENT
    scope: str = ""
    """How much runs again, if the dialect offers a choice."""
    deadline: Millis | None = None
    """The new deadline of the run."""


class Loaded(Input, frozen=True, tag="loaded"):
    """The run was read into memory: to `wake` for an input, to `recover` work interrupted in another process, or
    because it is a new `fork`."""

    how: Literal["wake", "recover", "fork"]


class Continue(Input, frozen=True, tag="continue"):
    """The previous decision said `more`."""


class AttemptFailed(Input, frozen=True, tag="attempt_failed"):
    """An attempt failed and waits for its retry. Only machines that gate retries get this: tasks they held back may
    start meanwhile."""

    token: TaskToken


AnyInput = (
    Start
    | TaskResult
    | KeepEntry
    | Suspend
    | ClaimExpired
    | Rejected
    | TimerFired
    | Message
    | ChildStarted
    | ChildFinished
    | CompensateChild
    | Decided
    | Delegate
    | Cancel
    | Patch
    | Resume
    | Loaded
    | Continue
)
