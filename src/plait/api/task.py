"""Tasks on queues, as workers of any language see them: claim, heartbeat, complete, fail, release.

The protocol is described in docs/guides/workers.md. All durations are in milliseconds; no timestamps are exchanged, so
a worker's clock may be wrong.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from plait.kernel.errors import ErrorInfo, InvalidInput
from plait.kernel.queued import QUEUE_NAME
from plait.kernel.store import LineLevel

from .shape import Body, Shape

PROTOCOL = 1
"""The newest protocol version that this server speaks."""

QueueName = Annotated[str, Meta(min_length=1, max_length=200, pattern=rf"^{QUEUE_NAME}\Z")]
WorkerName = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+\Z")]
TaskId = Annotated[str, Meta(min_length=1, max_length=20_000)]
_Name = Annotated[str, Meta(min_length=1, max_length=400)]

DEFAULT_LEASE = 30_000


def check_protocol(version: int) -> None:
    """Refuses a worker that speaks a newer version than this server."""
    if version > PROTOCOL:
        raise InvalidInput(
            "task.protocol_too_new",
            f"the worker speaks version {version} of the protocol",
            why=f"this server knows versions up to {PROTOCOL}",
            fix=f"use a newer server, or let the worker send protocol {PROTOCOL}",
        )


class ClaimTasks(Body, frozen=True, kw_only=True):
    worker: WorkerName
    """The worker's name, shown to people."""
    queues: Annotated[list[QueueName], Meta(min_length=1, max_length=100)]
    limit: Annotated[int, Meta(ge=1, le=1_000)] = 1
    lease_ms: Annotated[int, Meta(ge=1_000, le=3_600_000)] = DEFAULT_LEASE
    """Milliseconds that the worker may be silent before its tasks are given to others."""
    wait_ms: Annotated[int, Meta(ge=0, le=60_000)] = 0
    """Milliseconds to wait for a task, if there is none."""
    kinds: Annotated[list[_Name], Meta(min_length=1, max_length=100)] | None = None
    handlers: Annotated[list[_Name], Meta(min_length=1, max_length=10_000)] | None = None
    """Only tasks that call one of these functions; left out: any task."""
    protocol: Annotated[int, Meta(ge=1)] = PROTOCOL

    @classmethod
    def check_misfit(cls, given: dict[str, Any]) -> None:
        """Reports a newer protocol version first: it may send fields that this version does not know."""
        version = given.get("protocol")
        if isinstance(version, int):
            check_protocol(version)


class QueueTask(Shape, frozen=True, kw_only=True):
    """A task that a worker has claimed."""

    id: str
    """The id of this claim, which its worker reports with. Another claim of the same task has another id."""
    run_id: str
    namespace: str
    queue: str
    kind: str
    handler: str = ""
    label: str
    node: str = ""
    attempt: int
    key: str
    """The idempotency key, equal on all attempts."""
    input: Any
    """The input that its kind takes. For `python`: `handler` and `arguments`, an object or a list."""
    progress: Any = None
    """The last progress that the attempt before this one reported."""
    journal: list[Any] = []
    """The entries that the attempt has kept so far, for kinds that keep a journal; it continues after them."""
    last_error: TaskFailure | None = None
    """Why the attempt before this one failed."""
    lease_ms: int
    timeout_ms: int | None = None
    """The attempt's timeout in milliseconds; a result after that is refused."""
    heartbeat_ms: int | None = None
    """Maximum milliseconds between heartbeats, if shorter than the lease requires."""
    retry_on_timeout: bool = False
    never: list[str] = []
    """Errors that are never retried, as `module:name`."""


class ClaimedTasks(Shape, frozen=True, kw_only=True):
    tasks: list[QueueTask]
    """The claimed tasks; empty if none arrived within `wait_ms`."""
    protocol: int
    """The newest protocol version that the server knows."""


class TaskLine(Body, frozen=True, kw_only=True):
    """What the attempt says to people."""

    text: Annotated[str, Meta(max_length=10_000)]
    level: LineLevel = "info"


class BeatTask(Body, frozen=True, kw_only=True):
    id: TaskId
    progress: Any | UnsetType = UNSET
    """The attempt's progress, which the next attempt gets. Left out: the last reported progress stays."""
    lines: Annotated[list[TaskLine], Meta(max_length=1_000)] = []
    """Lines for the logs of the run."""


class TaskBeat(Shape, frozen=True, kw_only=True):
    id: str
    cancelled: bool
    """Whether the task was cancelled: the worker should stop, and need not report."""


class CompleteTask(Body, frozen=True, kw_only=True):
    id: TaskId
    output: Any = None
    memo: bool = False
    """Whether the worker reused the output of a task with the same `memo` and equal arguments."""


class TaskFailure(Body, frozen=True, kw_only=True, omit_defaults=True):
    message: Annotated[str, Meta(min_length=1, max_length=10_000)]
    code: Annotated[str, Meta(min_length=1, max_length=200)] = "task.failed"
    kind: Annotated[str, Meta(max_length=200)] = "error"
    type: Annotated[str, Meta(max_length=400)] = ""
    """The exception's type as `module:name`: raised again as that class where it is known."""
    args: list[Any] = []
    attrs: dict[str, Any] = {}
    trace: Annotated[str, Meta(max_length=20_000)] = ""
    cause: TaskFailure | None = None
    """The cause of the exception."""
    parts: Annotated[dict[str, TaskFailure], Meta(max_length=1_000)] = {}
    """The members of an exception group, by number."""
    notes: Annotated[list[Annotated[str, Meta(max_length=10_000)]], Meta(max_length=1_000)] = []

    @classmethod
    def of(cls, error: ErrorInfo) -> TaskFailure:
        """Converts an error. A text that is too long for its field is cut, or left out if a part of it would mean
        something else."""
        return cls(
            message=error.message[:10_000] or "failed",
            code=error.code if 1 <= len(error.code) <= 200 else "task.failed",
            kind=error.kind[:200],
            type=error.type if len(error.type) <= 400 else "",
            args=error.args,
            attrs=error.attrs,
            trace=error.trace[:20_000],
            cause=None if error.cause is None else cls.of(error.cause),
            parts={place: cls.of(part) for place, part in error.parts.items()},
            notes=[note[:10_000] for note in error.notes],
        )

    def info(self) -> ErrorInfo:
        return ErrorInfo(
            self.code,
            self.message,
            kind=self.kind,
            type=self.type,
            args=self.args,
            attrs=self.attrs,
            trace=self.trace,
            cause=None if self.cause is None else self.cause.info(),
            parts={place: part.info() for place, part in self.parts.items()},
            notes=self.notes,
        )


class KeepTaskEntry(Body, frozen=True, kw_only=True):
    """One more entry of the attempt's journal."""

    id: TaskId
    index: Annotated[int, Meta(ge=0)]
    """The number of entries before this one."""
    entry: Any = None
    says: Annotated[str, Meta(max_length=1_000)] = ""
    """The attempt's progress, in words for people."""
    events: Annotated[list[Any], Meta(max_length=10)] = []
    """Events of its kind, with `type`: `agent.finished`, `agent.tool_denied`."""


class SuspendTask(Body, frozen=True, kw_only=True):
    """The attempt waits; whoever claims it when that has come finds the answer in its journal."""

    id: TaskId
    wait: Any
    """What it waits for: `{"for": "approval", "title", …}`, `{"for": "child", "definition", …}` or
    `{"for": "time", "due"}`."""
    says: Annotated[str, Meta(max_length=1_000)] = ""


class FailTask(Body, frozen=True, kw_only=True):
    id: TaskId
    error: TaskFailure
    retryable: bool = True
    """False: final at once, even if attempts are left."""
    progress: Any | UnsetType = UNSET


class TaskReport(Body, frozen=True, kw_only=True):
    """How one task ended: with an `output`, or with an `error`."""

    id: TaskId
    output: Any = None
    error: TaskFailure | None = None
    retryable: bool = True
    progress: Any | UnsetType = UNSET
    memo: bool = False


class ReportTasks(Body, frozen=True, kw_only=True):
    results: Annotated[list[TaskReport], Meta(min_length=1, max_length=1_000)]


class ReportedTask(Shape, frozen=True, kw_only=True):
    id: str
    status: Literal["completed", "failed", "refused"]
    http_status: int = 0
    """For a refusal: the status that a report of this result alone would have got."""
    code: str = ""
    detail: str = ""


class ReportedTasks(Shape, frozen=True, kw_only=True):
    """In the order of the reports. Those that were not refused are durable."""

    results: list[ReportedTask]


class ReleaseTask(Body, frozen=True, kw_only=True):
    id: TaskId


class TaskState(Shape, frozen=True, kw_only=True):
    """The report is durable."""

    id: str
    status: Literal["completed", "failed", "released", "kept", "suspended"]
