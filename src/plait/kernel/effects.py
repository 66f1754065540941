"""What follows from a decision. Effects are committed with its events and acted on only afterwards."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Raw

from .errors import ErrorInfo
from .events import Event
from .ids import Millis, RunId, TaskToken
from .retry import Retry
from .values import ABSENT, NULL


class Attempt(msgspec.Struct, gc=False):
    """What a task's code may know of the try it is in."""

    number: int
    last_progress: Raw
    """What the attempt before this one last reported."""
    beat: Callable[[Raw], None]
    """Says that the attempt is alive, and how far it got."""


Call = Callable[[Attempt], Any | Awaitable[Any]]


class RunTask(msgspec.Struct, gc=False):
    """One unit of outside work, done by the owner itself. `call` is bound by the machine for this process only.

    Like other values of which one is made for every step, it is a struct that the garbage collector does not
    look at: it is quicker to build, and can't be part of a circle.
    """

    token: TaskToken
    label: str
    call: Call
    retry: Retry
    timeout: float | None = None
    retry_on_timeout: bool = False
    heartbeat: float | None = None
    threaded: bool = False
    """Plain functions run in a thread, so that they can't hold up the event loop."""
    recoveries: int | None = None
    """How often it may be started again after its process died; None is the engine's limit."""
    node: str = ""
    """The node of the run's picture that it belongs to, where that is not its token."""
    unbound: ErrorInfo | None = None
    """Why a compensator can't be called with the code that is loaded: the run is blocked instead."""


class CancelTask(msgspec.Struct, frozen=True, gc=False):
    token: TaskToken


class FailTask(msgspec.Struct, frozen=True, gc=False):
    """A task that had ended well turns out to have failed, for example because what it asked for never came: its
    attempt counts as failed, and its policy says what follows."""

    task: RunTask
    attempt: int
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
    token: TaskToken
    run_id: RunId
    dialect: str
    definition: str
    version: str | None = None
    input: Raw = NULL
    deadline: Millis | None = None
    labels: dict[str, str] = msgspec.field(default_factory=dict[str, str])
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


class AskHuman(msgspec.Struct, frozen=True, gc=False):
    token: TaskToken
    title: str
    by: str = ""
    deadline: Millis | None = None
    form: Raw = ABSENT
    evidence: Raw = ABSENT


class WithdrawQuestion(msgspec.Struct, frozen=True, gc=False):
    """The answer to an `AskHuman` is no longer wanted."""

    token: TaskToken


class Block(msgspec.Struct, frozen=True, gc=False):
    """The run can't go on with the code that is loaded (None: it can again). Its status stays `running`."""

    error: ErrorInfo | None


class Finish(msgspec.Struct, frozen=True, gc=False):
    status: Literal["completed", "failed"]
    output: Raw = NULL
    error: ErrorInfo | None = None
    data: Any = None
    """What the dialect wants to find in the `run.failed` event."""


Effect = (
    RunTask
    | CancelTask
    | FailTask
    | RetryTask
    | SetTimer
    | ClearTimer
    | StartChild
    | CancelChild
    | SendMessage
    | AskHuman
    | WithdrawQuestion
    | Block
    | Finish
)


class Decision(msgspec.Struct, gc=False):
    """Events and effects that are committed together or not at all."""

    events: list[Event] = msgspec.field(default_factory=list[Event])
    effects: list[Effect] = msgspec.field(default_factory=list[Effect])
    more: bool = False
    """Ask the machine again, with `Resume("continue")`, right after the commit."""
    reopen: str | None = None
    """The machine takes up an ended run again, for this cause."""
    retried: Sequence[TaskToken] = ()
    """Tasks whose dead letters are settled by that."""
    reply: Raw | None = None
    """What the caller of an inbox input gets back."""
