"""Events of the `code` dialect. `at` is a printed location."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Raw

from plait.kernel.errors import ErrorInfo
from plait.kernel.events import Event
from plait.kernel.ids import Millis, RunId
from plait.kernel.values import ABSENT

Kind = Literal[
    "step",
    "loop",
    "sleep",
    "message",
    "join",
    "race",
    "removed",
    "child",
    "send",
    "approval",
    "version",
    "timer",
    "update",
]
OpStatus = Literal["open", "completed", "failed", "cancelled"]


class CodeLoaded(Event, frozen=True, tag="code.loaded"):
    name: str
    hash: str
    version: str | None = None


class OpOpened(Event, frozen=True, tag="op.opened"):
    at: str
    kind: Kind
    after: str | None = None
    """The operation whose result was delivered when this one was asked for."""
    fn: str | None = None
    args: Raw = ABSENT
    undo: str | None = None
    """The rollback handler: `module:name`, or `inline`."""
    deadline: Millis | None = None
    names: list[str] | None = None
    limit: int | None = None
    branches: list[str] | None = None
    state: Raw = ABSENT
    run_id: RunId | None = None
    given: bool = False
    """Whether the caller chose the child's id."""
    keep: bool = False
    """Whether the child outlives its parent."""
    detached: bool = False
    """Whether nobody waits for the child's end."""
    definition: str | None = None
    value: int | None = None


class OpClosed(Event, frozen=True, tag="op.closed"):
    at: str
    status: Literal["completed", "failed", "cancelled"] = "completed"
    output: Raw = ABSENT
    error: ErrorInfo | None = None
    attempts: int = 1
    messages: list[str] | None = None
    """Ids of the messages it took; if it was cancelled before they were delivered, those it gives back."""
    winner: str | None = None
    queued: Millis = Millis(0)


class BranchClosed(Event, frozen=True, tag="branch.closed"):
    at: str
    branch: str
    status: Literal["completed", "failed", "cancelled"]
    output: Raw = ABSENT
    error: ErrorInfo | None = None


class LoopCommitted(Event, frozen=True, tag="loop.committed"):
    at: str
    iteration: int
    state: Raw
    starts: dict[int, Raw] = {}
    """States at the start of iterations since the last commit whose rollback handlers only the code knows."""


class LoopTrimmed(Event, frozen=True, tag="loop.trimmed"):
    at: str
    below: int
    kept: list[int] = []
    """Iterations kept whole, because only the code knows a rollback handler inside them."""


class MessageQueued(Event, frozen=True, tag="message.queued"):
    id: str
    name: str
    body: Raw
    sent_at: Millis


class UpdateOpened(Event, frozen=True, tag="update.opened"):
    """A caller's update was accepted: its handler runs at `at`, at its place among the deliveries."""

    at: str
    id: str
    name: str
    body: Raw


class UpdateClosed(Event, frozen=True, tag="update.closed"):
    at: str
    id: str
    output: Raw = ABSENT
    error: ErrorInfo | None = None


class Published(Event, frozen=True, tag="published"):
    at: str
    """The path of the scope that published it; empty for the workflow itself."""
    key: str
    n: int
    """The number of values of that key that the scope had published before."""
    value: Raw


class RunBlocked(Event, frozen=True, tag="run.blocked"):
    code: str
    at: str
    expected: str
    found: str
    fix: str


class RunUnblocked(Event, frozen=True, tag="run.unblocked"):
    hash: str


class RunRecovered(Event, frozen=True, tag="run.recovered"):
    reset: list[str]
    """Operations that failed, and those stopped as a consequence: open again."""
    spare: list[str] = []
    """Operations that only the failure had led to: the code may reach them again or not."""


class RunRewound(Event, frozen=True, tag="run.rewound"):
    to: str | None
    state: Raw


class RunContinued(Event, frozen=True, tag="run.continued"):
    """The function restarts: its operations are over, queued messages stay."""

    input: Raw


class RunForked(Event, frozen=True, tag="run.forked"):
    source: str
    upto: int
    edits: dict[str, Any] = {}


CodeEvent = (
    CodeLoaded
    | OpOpened
    | OpClosed
    | BranchClosed
    | LoopCommitted
    | LoopTrimmed
    | MessageQueued
    | UpdateOpened
    | UpdateClosed
    | Published
    | RunBlocked
    | RunUnblocked
    | RunRecovered
    | RunRewound
    | RunForked
    | RunContinued
)
