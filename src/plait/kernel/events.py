"""Facts about a run. An event is a frozen struct with a tag; dialects declare more of them.

The kernel defines what all runs share: start and end, attempts that did not simply succeed, compensation, and votes. A
first attempt that succeeds adds no kernel event: its result is the dialect's own event. A field of type `Raw` holds a
value that is already JSON; the kernel keeps large ones as blobs, invisibly to machines.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Raw

from .approval import ClosedStatus, Escalation
from .errors import ErrorInfo
from .ids import Millis, RunId, TaskToken
from .journal import AnyWait
from .notice import Notice
from .values import NULL

Cause = Literal["failure", "cancel", "deadline", "request", "limit"]


class Event(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", gc=False):
    """Base of all events."""


class RunStarted(Event, frozen=True, tag="run.started"):
    dialect: str
    definition: str
    input: Raw = NULL
    version: str | None = None
    seed: int = 0
    parent: RunId | None = None
    deadline: Millis | None = None
    labels: dict[str, str] = {}
    data: Any = None
    independent: bool = False
    """Its parent neither ends it nor compensates its work."""
    by: str = ""
    """Who started it, if given."""
    reference: str = ""
    """The reference it was requested by, such as `name@tag`, if that differs from its name."""
    queue: str = ""
    """The queue it waited on, whose slot it holds."""
    priority: int = 0
    partition: str = ""
    """The partition key of its tasks on queues."""


class RunCompleted(Event, frozen=True, tag="run.completed"):
    output: Raw = NULL
    partial: bool = False
    """Some of its steps failed."""


class RunFailed(Event, frozen=True, tag="run.failed"):
    error: ErrorInfo
    data: Any = None


class RunCancelled(Event, frozen=True, tag="run.cancelled"):
    reason: str = ""


class RunReopened(Event, frozen=True, tag="run.reopened"):
    cause: str


class RunPatched(Event, frozen=True, tag="run.patched"):
    """The run's definition was changed; the dialect's own events just before say how."""

    revision: int
    """The new revision; every run starts at 1."""
    by: str = ""


class TaskRetryScheduled(Event, frozen=True, tag="task.retry_scheduled"):
    token: TaskToken
    attempt: int
    due: Millis
    error: ErrorInfo
    progress: Raw = NULL
    max_attempts: int = 0
    """For readers without the code that defines it; 0: unknown."""
    queued: Millis = Millis(0)


class TaskQueued(Event, frozen=True, tag="task.queued"):
    """An attempt waits on a queue for a worker."""

    token: TaskToken
    attempt: int
    queue: str
    lost: int = 0
    """How many earlier claims were lost with their workers; these don't count as tries."""
    lost_worker: str = ""
    """The worker whose lost claim this repeats."""


class AgentUsage(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Token counts of a language model. Cached tokens are included in the input."""

    input: int = 0
    output: int = 0
    cached: int = 0


class TaskJournaled(Event, frozen=True, tag="task.journaled"):
    """An attempt recorded a result that must not be computed twice, or received what it was suspended for."""

    token: TaskToken
    attempt: int
    index: int
    """Position in the journal of its attempt, from 0."""
    entry: Raw = NULL
    says: str = ""
    """The progress of the attempt, for people."""


class TaskSuspended(Event, frozen=True, tag="task.suspended"):
    """An attempt is suspended and uses no resources meanwhile."""

    token: TaskToken
    attempt: int
    wait: AnyWait
    says: str = ""


class TaskLate(Event, frozen=True, tag="task.late"):
    """A result that arrived after its task was settled, or from an older attempt: recorded without effect."""

    token: TaskToken
    attempt: int
    output: Raw = NULL
    error: ErrorInfo | None = None


class TokenRejected(Event, frozen=True, tag="token.rejected"):
    """A task or result sent through Redis was forged, damaged or another's, and was ignored."""

    reason: str
    token: TaskToken = TaskToken("")
    """Empty: it matches no task in flight."""
    node: str = ""
    times: int = 0
    """How often this happened to the task."""


class TaskDeadLettered(Event, frozen=True, tag="task.dead_lettered"):
    token: TaskToken
    attempts: int
    error: ErrorInfo


class RollbackStarted(Event, frozen=True, tag="rollback.started"):
    cause: Cause
    error: ErrorInfo | None = None
    reason: str = ""
    data: Any = None
    only: list[TaskToken] = []
    """The compensators to run; empty: all."""


class RollbackStep(Event, frozen=True, tag="rollback.step"):
    at: TaskToken
    status: Literal["asked", "completed", "failed", "retried", "discarded"]
    """`asked`: a child was asked, and reports when it is done."""
    attempts: int = 1
    error: ErrorInfo | None = None
    child: TaskToken = TaskToken("")
    """For a child that has reported: the token under which this run started it."""


class RollbackEnded(Event, frozen=True, tag="rollback.ended"):
    status: Literal["completed", "failed"]
    """`failed`: a compensator failed for good."""


class ChildCompensable(Event, frozen=True, tag="child.compensable"):
    """A child ended, and its work must be compensated when this run rolls back."""

    run_id: RunId
    parent: RunId
    """The parent of the child: the log may be that of a fork."""
    after: int = 0
    """How many compensators of its own the run had at that time."""


class ApprovalEvent(Event, frozen=True):
    """An event of an approval that needs several votes, certain people or an escalation. An approval that anybody may
    decide alone has none: its decision is the dialect's event."""

    token: TaskToken


class ApprovalRequested(ApprovalEvent, frozen=True, tag="approval.requested"):
    required: int = 1
    approvers: tuple[str, ...] = ()
    escalations: tuple[Escalation, ...] = ()


class ApprovalVoted(ApprovalEvent, frozen=True, tag="approval.voted"):
    by: str
    decision: str
    comment: str = ""
    data: Raw = NULL
    evidence_hash: str = ""


class ApprovalDelegated(ApprovalEvent, frozen=True, tag="approval.delegated"):
    """`to` votes in the place of `by`, who does not any more."""

    by: str
    to: str
    comment: str = ""


class ApprovalEscalated(ApprovalEvent, frozen=True, tag="approval.escalated"):
    level: int
    to: tuple[str, ...]


class ApprovalClosed(ApprovalEvent, frozen=True, tag="approval.closed"):
    status: ClosedStatus


class ApprovalNotified(ApprovalEvent, frozen=True, tag="approval.notified"):
    """Notices were sent; `approval.notice` records the outcome of each."""

    notices: tuple[Notice, ...]
    service: str = ""


class NoticeEnded(ApprovalEvent, frozen=True, tag="approval.notice"):
    notice: TaskToken
    status: Literal["sent", "failed", "retried"]
    error: ErrorInfo | None = None


class AgentFinished(Event, frozen=True, tag="agent.finished"):
    """An attempt of a language model at a task ended, successfully or not."""

    token: TaskToken
    node_id: str
    attempt: int
    status: Literal["completed", "failed"]
    model: str
    """The model's name in the workflow."""
    turns: int = 0
    tool_calls: int = 0
    usage: AgentUsage = AgentUsage()
    cost_usd: float | None = None
    """None: the price is unknown."""
    cache_hit: bool = False
    error: ErrorInfo | None = None


class AgentToolDenied(Event, frozen=True, tag="agent.tool_denied"):
    token: TaskToken
    node_id: str
    attempt: int
    tool: str
    reason: str


AttemptEvent = AgentFinished | AgentToolDenied
"""Events that an attempt may add to the log with an entry of its journal."""


KernelEvent = (
    RunStarted
    | RunCompleted
    | RunFailed
    | RunCancelled
    | RunReopened
    | RunPatched
    | TaskRetryScheduled
    | TaskQueued
    | TaskJournaled
    | TaskSuspended
    | AgentFinished
    | AgentToolDenied
    | TaskLate
    | TokenRejected
    | TaskDeadLettered
    | RollbackStarted
    | RollbackStep
    | RollbackEnded
    | ChildCompensable
    | ApprovalRequested
    | ApprovalVoted
    | ApprovalDelegated
    | ApprovalEscalated
    | ApprovalClosed
    | ApprovalNotified
    | NoticeEnded
)


class Recorded(msgspec.Struct, frozen=True):
    """An event with its place in the log, as readers see it."""

    seq: int
    at: Millis
    type: str
    data: dict[str, Any]
