"""A task: one unit of outside work, as data, and one attempt at it.

A decision asks for a task and later gets its result. Which process does the work, and how often it is tried, is not
the machine's concern: the owner does tasks without a queue, workers claim those with one. The only kind that is not
plain data is `call`: a function of the owner's own process, bound by its machine for as long as the run is in memory.
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
    """How a task is tried. Durations are seconds."""

    retry: Retry = ONCE
    timeout: float | None = None
    """Of one attempt."""
    retry_on_timeout: bool = False
    heartbeat: float | None = None
    recoveries: int | None = None
    """How often it may be started again after its process died; None is the engine's limit."""


class Task(msgspec.Struct, gc=False):
    """What a decision asks for.

    Like other values of which one is made for every step, it is a struct that the garbage collector does not
    look at: it is quicker to build, and can't be part of a circle.
    """

    token: TaskToken
    label: str
    kind: str
    input: Any
    """What its executor takes: plain data, or a `Call`."""
    policy: Policy
    key: str
    """The idempotency key, equal on all attempts."""
    node: str = ""
    """The node of the run's view that it belongs to, where that is not its token."""
    queue: str | None = None
    """None: the run's owner does it."""
    unbound: ErrorInfo | None = None
    """Why a compensator can't be called with the code that is loaded: the run is blocked instead."""
    code: str = ""
    """Of one that is left to workers because its owner has not got the function: an engine that says it has this code
    (`bundle.SharesTasks`) may claim it, too."""


@runtime_checkable
class HasQueueForm(Protocol):
    """The input of a task that its owner does, and that would look different on a queue."""

    def on_queue(self) -> tuple[Any, str]:
        """As workers get it, and the `Task.code` of it."""
        ...


class Call(Protocol):
    """The input of a task of the kind `call`."""

    @property
    def threaded(self) -> bool:
        """A plain function, which may block: it runs in a thread."""
        ...

    def call(self) -> Any | Awaitable[Any]:
        """Once for each attempt."""
        ...

    def check(self, output: object, raw: Raw) -> None:
        """Raises if nobody could read the result, which then is not recorded."""
        ...


class Attempt(msgspec.Struct, eq=False):
    """One try of one task, under way in this process. The garbage collector sees it, as it holds its worker."""

    run_id: RunId
    task: Task
    number: int
    progress: Raw
    """What the attempt before this one last reported."""
    report: Callable[[RunId, TaskResult | Suspend], None]
    log: Callable[[Attempt, LineLevel, str], None]
    """Keeps a line that the attempt says, from any thread."""
    keeper: Keeper | None = None
    journal: tuple[Raw, ...] = ()
    """What it kept so far, before its process died or while it was suspended."""
    error: ErrorInfo | None = None
    """Why the attempt before this one failed."""
    logged: int = 0
    """How many lines so far."""

    # The worker's own marks
    worker: AttemptWorker | None = None
    lane: asyncio.Task[None] | None = None
    """The task of the event loop that it runs in."""
    limited: bool = False
    """It waits for something, so its timeout and its heartbeats are watched."""
    reported: Raw | None = None
    """How far it got, as it last said."""
    beaten: float = 0.0
    thread_asked: float | None = None
    thread_began: float | None = None
    """Between the two it waits for a free thread."""
    over: bool = False

    def beat(self, progress: Raw) -> None:
        """Says that it is alive, and how far it got; from any thread."""
        if self.worker is not None:
            self.worker.beat(self, progress)

    async def keep(self, entry: Raw, *, says: str = "", events: Sequence[AttemptEvent] = ()) -> None:
        """Adds an entry to its journal; durable when this returns. `says` tells people how far it is by now."""
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
    """Puts entries of journals into the log."""

    async def __call__(self, attempt: Attempt, entry: KeepEntry) -> None: ...


class AttemptWorker(Protocol):
    """What an attempt may ask of the worker that runs it."""

    def beat(self, attempt: Attempt, progress: Raw) -> None: ...

    async def in_thread(self, attempt: Attempt, function: Callable[[], Any]) -> Any: ...

    async def on_cluster(self, attempt: Attempt, on: str, ref: str, arguments: Raw) -> Raw: ...


current_attempt: ContextVar[Attempt | None] = ContextVar("plait.attempt", default=None)
"""The attempt whose code runs, for whoever is called from it: in a task of the event loop and in a thread."""


class Later(msgspec.Struct, frozen=True, gc=False):
    """Returned by an executor: the work was accepted, and its result will come as a message to the run."""


LATER = Later()


class TaskError(Exception):
    """Work that failed; its text is what people see, its code what programs and machines match on."""

    def __init__(self, message: str, *, retryable: bool, code: str = "task.failed") -> None:
        super().__init__(message)
        self.retryable = retryable
        self.code = code


class Executor(Protocol):
    """Does the tasks of some kinds, in an engine or in a worker. It knows no dialect."""

    @property
    def kinds(self) -> Sequence[str]: ...

    async def execute(self, task: Task, attempt: Attempt) -> Any | Later | Suspended:
        """The result, to be kept as JSON. What it raises is a failure, tried again as the task's policy says unless
        the exception has `retryable = False`."""
        ...


class Worker(Protocol):
    def start(self, attempt: Attempt) -> None: ...

    def cancel(self, run_id: RunId, token: TaskToken) -> None:
        """Stops an attempt whose result is not wanted; it reports nothing any more."""
        ...

    async def close(self) -> None: ...
