"""What decides for one run: a machine, made by its dialect.

The contract of a machine:

- `decide` is a function of the state and its arguments alone: no I/O, no clock, no randomness. It
  folds the events it returns into its own state as it goes; the kernel commits them and drops the
  machine when the commit is refused. So a machine is valid only at the sequence number it reached.
- `evolve` folds one recorded event, and never fails on an event that some `decide` once returned.
- `snapshot` holds all that `evolve` built up: folding a log and restoring a snapshot give equal states.
- `pending` says from state alone what must be under way: it is asked after a recovery or a wake-up.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Protocol, runtime_checkable

import msgspec
from msgspec import Raw

from .effects import Decision, Effect
from .errors import ErrorInfo
from .events import Event
from .ids import Millis, RunId, TaskToken
from .journal import Journal
from .task import Task
from .view import Edge, Node, Reason


class RunInfo(msgspec.Struct, frozen=True, gc=False):
    """What does not change in the life of a run."""

    run_id: RunId
    namespace: str
    dialect: str
    definition: str
    version: str | None = None
    parent: RunId | None = None
    parent_token: TaskToken | None = None
    depth: int = 0
    deadline: Millis | None = None
    labels: Mapping[str, str] = {}
    created_at: Millis = Millis(0)


class TaskFacts(msgspec.Struct, frozen=True, gc=False):
    """What the kernel knows of an open task, for `view` and `waiting`."""

    attempt: int
    max_attempts: int
    running: bool
    retry_at: Millis | None = None
    error: ErrorInfo | None = None
    journal: Journal | None = None


class Machine(Protocol):
    accepts_late_results: bool
    """It takes in what comes after the run's outcome: results of work that was under way, messages, timers. They
    can't change how the run ended; events are recorded, effects that begin something are not for then."""

    finishes_cancelled_work: bool
    """What is under way when the run is cancelled, or its deadline passes, is not stopped: its result comes late."""

    keeps_late_messages: bool
    """A message that was sent before the run ended, and comes after that, is kept for when the run is reopened."""

    gates_retries: bool
    """It says when the next attempt of a task that failed may begin, once that is due: see `RetryDue`."""

    stops_at_failed_compensation: bool
    """A compensator that fails for good stops those that would follow it; else they still run."""

    @property
    def adds_dead_letters(self) -> bool:
        """It says itself, with `AddDeadLetter`, what becomes a dead letter; else that is every task without attempts
        left."""
        ...

    @property
    def compensates_failures(self) -> bool:
        """A run that fails, by itself or because of its deadline or a limit, is compensated without being asked to."""
        ...

    @property
    def compacts(self) -> bool:
        """It drops what it no longer needs, as a long loop does: of its old events a snapshot is all that is kept."""
        ...

    @property
    def reload_on_takeover(self) -> bool:
        """Something that others do hangs on its owner: it must be loaded when its shard changes hands."""
        ...

    def evolve(self, event: Event, at: Millis) -> None: ...

    def decide(self, input: Any, now: Millis) -> Decision:
        """Answers one of `inputs.AnyInput`. A machine may refuse with a `PlaitError`: nothing is then recorded."""
        ...

    def pending(self, now: Millis, *, recovered: bool) -> list[Effect]:
        """What must be under way. `recovered`: another process had it before, and may have died."""
        ...

    def compensations(self) -> list[Task]:
        """Compensators of succeeded tasks that have not run, in order of completion of those tasks."""
        ...

    def snapshot(self) -> Raw: ...

    def weight(self) -> int:
        """Roughly how many entries a snapshot would hold; the kernel takes one when it pays."""
        ...

    def backlog(self) -> int:
        """How many messages wait to be taken by the run's own logic."""
        ...

    def nodes(self, tasks: Mapping[TaskToken, TaskFacts]) -> tuple[list[Node], list[Edge]]: ...

    def waiting(self, tasks: Mapping[TaskToken, TaskFacts]) -> list[Reason]: ...

    def details(self) -> dict[str, Any] | None:
        """What its dialect has to show beside nodes and edges."""
        ...

    def close(self) -> None:
        """Dropped from memory; must not touch the world."""
        ...


@runtime_checkable
class NeedsCode(Protocol):
    """A machine whose run is blocked where functions are not loaded that another engine may have."""

    def needed_code(self) -> Collection[str]:
        """All that it calls in its engine's own process, by the names that `bundle.HasCode` says them by."""
        ...


@runtime_checkable
class CallsCode(NeedsCode, Protocol):
    """One that does not block its run: it asks for tasks, whatever is loaded here."""

    def called_code(self, task: Task) -> str | None:
        """The name of what a task calls in its engine's own process; None if any engine can do it."""
        ...
