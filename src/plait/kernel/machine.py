"""The machine: a dialect's decision logic for one run.

The contract of a machine:

- `decide` is a function of the state and its arguments alone: no I/O, no clock, no randomness. It
  folds the events it returns into its own state as it goes; the kernel commits them and drops the
  machine when the commit is refused. So a machine is valid only at the sequence number it reached.
- `evolve` folds one recorded event, and never fails on an event that some `decide` once returned.
- `snapshot` holds all that `evolve` built up: folding a log and restoring a snapshot give equal states.
- `pending` lists, from state alone, what must be in flight after a recovery or a wake-up.
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
    """The facts about a run that never change."""

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
    """It accepts inputs after the run's outcome: results of work in flight, messages, timers. They can't change how the
    run ended; events are recorded, but effects must not start new work."""

    finishes_cancelled_work: bool
    """Work in flight is not stopped when the run is cancelled or its deadline passes: its result comes late."""

    keeps_late_messages: bool
    """A message sent before the run ended that arrives afterwards is kept in case the run is reopened."""

    gates_retries: bool
    """It decides when the next attempt of a failed task may start, once that is due: see `RetryDue`."""

    stops_at_failed_compensation: bool
    """A compensator that fails for good stops those after it; otherwise they still run."""

    @property
    def adds_dead_letters(self) -> bool:
        """It creates dead letters itself, with `AddDeadLetter`; otherwise every task that exhausts its attempts becomes
        one."""
        ...

    @property
    def compensates_failures(self) -> bool:
        """A run that fails, by itself or because of its deadline or a limit, is compensated without a request."""
        ...

    @property
    def compacts(self) -> bool:
        """It drops state it no longer needs, as a long loop does: only a snapshot is kept of its old events."""
        ...

    @property
    def reload_on_takeover(self) -> bool:
        """Work elsewhere depends on its owner: it must be loaded when its shard changes hands."""
        ...

    def evolve(self, event: Event, at: Millis) -> None: ...

    def decide(self, input: Any, now: Millis) -> Decision:
        """Decides one of `inputs.AnyInput`. A machine may refuse with a `PlaitError`: then nothing is recorded."""
        ...

    def pending(self, now: Millis, *, recovered: bool) -> list[Effect]:
        """What must be in flight. `recovered`: another process owned the run before, and may have died."""
        ...

    def compensations(self) -> list[Task]:
        """Compensators of succeeded tasks that have not run, in order of completion of those tasks."""
        ...

    def snapshot(self) -> Raw: ...

    def weight(self) -> int:
        """Roughly how many entries a snapshot would hold; the kernel takes one when it pays off."""
        ...

    def backlog(self) -> int:
        """How many messages wait for the run's own logic."""
        ...

    def nodes(self, tasks: Mapping[TaskToken, TaskFacts]) -> tuple[list[Node], list[Edge]]: ...

    def waiting(self, tasks: Mapping[TaskToken, TaskFacts]) -> list[Reason]: ...

    def details(self) -> dict[str, Any] | None:
        """Dialect data shown beside nodes and edges."""
        ...

    def close(self) -> None:
        """Called when the run leaves memory; must not cause any I/O."""
        ...


@runtime_checkable
class NeedsCode(Protocol):
    """A machine whose run is blocked if functions are missing that another engine may have."""

    def needed_code(self) -> Collection[str]:
        """The names, as in `bundle.HasCode`, of all functions it calls in its engine's process."""
        ...


@runtime_checkable
class CallsCode(NeedsCode, Protocol):
    """A machine that does not block its run: it requests tasks, whatever code is loaded here."""

    def called_code(self, task: Task) -> str | None:
        """The name of the function that a task calls in its engine's process; None if any engine can do it."""
        ...
