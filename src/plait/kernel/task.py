"""A task, one unit of outside work as data, and one attempt at it.

A decision requests a task and later gets its result. Which process does the work, and how often it is tried, is not the
machine's concern: the owner executes tasks without a queue, workers claim those with one. The only kind that is not
plain data is `call`: a function of the owner's own process, bound by its machine while the run is in memory.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar
from typing import Any, Final, Protocol, TypeVar, runtime_checkable

import msgspec
from msgspec import Raw

from .errors import ErrorInfo
from .events import AttemptEvent
from .ids import RunId, TaskToken
from .inputs import KeepEntry, Suspend, TaskResult
from .journal import Suspended
from .retry import ONCE, Retry
from .store import LineLevel

T = TypeVar("T")

CALL: Final = "call"
"""The kind whose input is a `Call`."""


class Policy(msgspec.Struct, frozen=True, gc=False):
    """How a task is tried. Durations are in seconds."""

    retry: Retry = ONCE
    timeout: float | None = None
    """Seconds for one attempt."""
    retry_on_timeout: bool = False
    heartbeat: float | None = None
    recoveries: int | None = None
    """How often it may be restarted after its process died; None: the engine's limit."""


class Task(msgspec.Struct, gc=False):
    """A task, requested by a decision.

    Like other values created for every step, it is a struct that the garbage collector does not track: it is quicker to
    build, and can't be part of a cycle.
    """

    token: TaskToken
    label: str
    kind: str
    input: Any
    """Input of its executor: plain data, or a `Call`."""
    policy: Policy
    key: str
    """The idempotency key, equal on all attempts."""
    node: str = ""
    """The node of the run's view that it belongs to, if that is not its token."""
    queue: str | None = None
    """None: the run's owner executes it."""
    unbound: ErrorInfo | None = None
    """Why a compensator can't be called with the loaded code: the run is blocked instead."""
    code: str = ""
    """Code name of a task left to workers because its owner lacks the function: an engine that has this code
    (`bundle.SharesTasks`) may claim it, too."""


@runtime_checkable
class HasQueueForm(Protocol):
    """Input of a task executed by the owner that has another form on a queue."""

    def on_queue(self) -> tuple[Any, str]:
        """The form that workers get, and its `Task.code`."""
        ...


class Call(Protocol):
    """The input of a task of the kind `call`."""

    @property
    def threaded(self) -> bool:
        """True for a plain function, which may block: it runs in a thread."""
        ...

    def call(self) -> Any | Awaitable[Any]:
        """Calls the function, once per attempt."""
        ...

    def check(self, output: object, raw: Raw) -> None:
        """Raises if the result could not be read back; then it is not recorded."""
        ...


class Attempt(msgspec.Struct, eq=False):
    """One try of one task, in flight in this process. The garbage collector tracks it, because it refers to its
    worker."""

    run_id: RunId
    task: Task
    number: int
    progress: Raw
    """The last progress of the previous attempt."""
    report: Callable[[RunId, TaskResult | Suspend], None]
    log: Callable[[Attempt, LineLevel, str], None]
    """Stores a log line of the attempt, from any thread."""
    keeper: Keeper | None = None
    journal: tuple[Raw, ...] = ()
    """Journal entries from before its process died or it was suspended."""
    error: ErrorInfo | None = None
    """Why the previous attempt failed."""
    logged: int = 0
    """Number of lines logged so far."""

    # Fields of the worker
    worker: AttemptWorker | None = None
    lane: asyncio.Task[None] | None = None
    """The asyncio task that it runs in."""
    limited: bool = False
    """It waits for something, so its timeout and its heartbeats are watched."""
    reported: Raw | None = None
    """Its latest progress."""
    beaten: float = 0.0
    thread_asked: float | None = None
    thread_began: float | None = None
    """Between the two times it waits for a free thread."""
    over: bool = False

    def beat(self, progress: Raw) -> None:
        """Sends a heartbeat with progress; from any thread."""
        if self.worker is not None:
            self.worker.beat(self, progress)

    async def keep(self, entry: Raw, *, says: str = "", events: Sequence[AttemptEvent] = ()) -> None:
        """Adds an entry to its journal; durable when this returns. `says` describes the progress for people."""
        if self.keeper is None:
            raise RuntimeError("nobody keeps the journal of this attempt")
        await self.keeper(self, KeepEntry(self.task.token, self.number, len(self.journal), entry, says, tuple(events)))
        self.journal = (*self.journal, entry)

    async def in_thread(self, function: Callable[[], Any]) -> Any:
        """Runs a function that may block."""
        if self.worker is None:
            raise RuntimeError("no worker runs this attempt")
        return await self.worker.in_thread(self, function)

    async def on_cluster(self, on: str, ref: str, arguments: Raw) -> Raw:
        """Calls the function `module:name` on a cluster, with recorded arguments."""
        if self.worker is None:
            raise RuntimeError("no worker runs this attempt")
        return await self.worker.on_cluster(self, on, ref, arguments)


class Keeper(Protocol):
    """Writes journal entries to the log."""

    async def __call__(self, attempt: Attempt, entry: KeepEntry) -> None: ...


class AttemptWorker(Protocol):
    """Services that an attempt gets from its worker."""

    def beat(self, attempt: Attempt, progress: Raw) -> None: ...

    async def in_thread(self, attempt: Attempt, function: Callable[[], Any]) -> Any: ...

    async def on_cluster(self, attempt: Attempt, on: str, ref: str, arguments: Raw) -> Raw: ...


current_attempt: ContextVar[Attempt | None] = ContextVar("plait.attempt", default=None)
"""The attempt that the current code belongs to, in an asyncio task or a thread."""


class Later(msgspec.Struct, frozen=True, gc=False):
    """Returned by an executor: the work was accepted, and its result will come as a message to the run."""


LATER = Later()


class TaskError(Exception):
    """Work that failed; people see its text, programs and machines match on its code."""

    def __init__(self, message: str, *, retryable: bool, code: str = "task.failed") -> None:
        super().__init__(message)
        self.retryable = retryable
        self.code = code


class Executor(Protocol):
    """Executes tasks of some kinds, in an engine or in a worker. It knows no dialect."""

    @property
    def kinds(self) -> Sequence[str]: ...

    async def execute(self, task: Task, attempt: Attempt) -> Any | Later | Suspended:
        """Returns the result, to be stored as JSON. An exception is a failure, retried by the task's policy unless it
        has `retryable = False`."""
        ...


class Worker(Protocol):
    def start(self, attempt: Attempt) -> None: ...

    def cancel(self, run_id: RunId, token: TaskToken) -> None:
        """Stops an attempt whose result is no longer needed; it reports nothing after that."""
        ...

    async def close(self) -> None: ...
