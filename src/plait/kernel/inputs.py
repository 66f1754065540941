"""What makes a machine decide. Inputs that come from outside the owner travel through the inbox as JSON."""

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
    """Its parent waits to hear that it has started."""
    independent: bool = False
    """Its parent does not end it, nor compensate what it did."""
    by: str = ""
    reference: str = ""
    queue: str = ""
    priority: int = 0
    partition: str = ""


class TaskResult(Input, frozen=True, tag="task_result"):
    """How an attempt ended. The machine sees only final results; attempts are the kernel's."""

    token: TaskToken
    attempt: int
    output: Raw = ABSENT
    error: ErrorInfo | None = None
    retryable: bool = True
    progress: Raw = NULL
    queued: Millis = Millis(0)
    """How long the attempt waited for a worker."""
    later: bool = False
    """The work was accepted; its result will come as a message."""
    opening: int = 0
    """Of a queued task: which of its rows this is the result of. 0: it was done by the owner."""
    memo: bool = False
    """Its worker had this result from before, and did not do the work again."""


class KeepEntry(Input, frozen=True, tag="keep_entry"):
    """An attempt under way adds to its journal."""

    token: TaskToken
    attempt: int
    index: int
    """How many entries the attempt knows of: one that is not the last any more is refused."""
    entry: Raw = NULL
    says: str = ""
    events: tuple[AttemptEvent, ...] = ()
    opening: int = 0


class Suspend(Input, frozen=True, tag="suspend"):
    """An attempt waits for something, and is begun again when that has come."""

    token: TaskToken
    attempt: int
    wait: AnyWait
    says: str = ""
    opening: int = 0


class ClaimExpired(Input, frozen=True, tag="claim_expired"):
    """The worker that claimed a task has not been heard of for as long as its lease lasts, or the task allows."""

    token: TaskToken
    opening: int
    worker: str
    why: Expiry
    progress: Raw = NULL


class Rejected(Input, frozen=True, tag="rejected"):
    """A worker refused the envelope of a task, or what came as its result is not by a worker of ours."""

    reason: str
    token: TaskToken = TaskToken("")
    opening: int = 0
    node: str = ""


class TimerFired(Input, frozen=True, tag="timer_fired"):
    token: TaskToken
    due: Millis | None = None
    """When that was due: a timer of the same name that was set for later meanwhile has not fired."""


class RetryDue(Input, frozen=True, tag="retry_due"):
    """Another attempt of a task may begin. Only machines that gate retries are asked; else it begins at once."""

    token: TaskToken


class Message(Input, frozen=True, tag="message"):
    id: str
    """Its key in the inbox."""
    name: str
    body: Raw = NULL
    sent_at: Millis = Millis(0)
    asks: bool = False
    """Its sender waits for an answer: `Decision.reply`, or an `Answer` in a later decision."""
    purpose: Purpose = "message"
    """An `update` is for a handler of the run's own, or refused; a `query` is answered by ended runs too, and changes
    nothing."""


class ChildStarted(Input, frozen=True, tag="child_started"):
    """The first decision of a child whose parent asked to be told."""

    token: TaskToken
    run_id: RunId


class ChildFinished(Input, frozen=True, tag="child_finished"):
    token: TaskToken
    run_id: RunId
    status: Literal["completed", "failed", "cancelled", "refused"]
    output: Raw = NULL
    error: ErrorInfo | None = None
    compensable: bool = False
    """It has done something that can be compensated."""
    compensation_failed: bool = False
    """One of its compensators failed for good."""


class CompensateChild(Input, frozen=True, tag="compensate_child"):
    """A parent that rolls back asks for the same of a child. It is answered by `ChildFinished`."""

    parent: RunId
    token: TaskToken
    number: int
    """Of the request: a parent may ask again."""


class Decided(Input, frozen=True, tag="decided"):
    """A person's vote on an approval. The machine is given the one that decides it."""

    token: TaskToken
    decision: str
    by: str = ""
    comment: str = ""
    data: Raw = NULL
    evidence_hash: str = ""
    """Of what the person was shown."""


class Delegate(Input, frozen=True, tag="delegate"):
    """An approver hands their vote on an approval to someone else."""

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
    """Who cancels its child: a run that is another's is not meant."""


class Patch(Input, frozen=True, tag="patch"):
    """Changes the definition of this run."""

    operations: list[dict[str, Any]]
    by: str = ""
    base: int | None = None
    """The revision that the operations were made for; None: whichever it is now."""
    agent: str = ""
    """The node of an agent whose patch it is: such a patch may do less."""
    denied: str = ""
    """Why it is refused, whatever it would do: its agent may not patch."""


class Resume(Input, frozen=True, tag="resume"):
    """A request to go on: `retry` what failed or is blocked, `rewind` to an earlier place, `settle` a dead letter,
    `compensate` an ended run, `requeue` a task whose row on a queue is lost."""

    mode: Literal["retry", "rewind", "settle", "compensate", "requeue", "continue"]
    """`continue` stands in inboxes of older databases, for `Loaded("fork")`."""
    at: str | None = None
    token: TaskToken | None = None
    verdict: Literal["retry", "discard"] | None = None
    state: Raw = ABSENT
    scope: str = ""
    """How much runs again, where a dialect has a choice."""
    deadline: Millis | None = None
    """That the run has from then on."""


class Loaded(Input, frozen=True, tag="loaded"):
    """The run was read into memory: to `wake` for an input, to `recover` what another process had under way, or
    because it is a `fork` that has just been made."""

    how: Literal["wake", "recover", "fork"]


class Continue(Input, frozen=True, tag="continue"):
    """The decision before said `more`."""


class AttemptFailed(Input, frozen=True, tag="attempt_failed"):
    """An attempt failed and waits to be tried again. Only machines that gate retries are told: what they held back
    may begin meanwhile."""

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
