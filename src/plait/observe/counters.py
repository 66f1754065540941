"""Counts what happens in one engine, in plain integers: cheap enough to be always on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Literal

from plait.kernel.errors import PlaitError
from plait.kernel.events import (
    AgentFinished,
    Event,
    RunCancelled,
    RunCompleted,
    RunFailed,
    RunReopened,
    RunStarted,
    TaskDeadLettered,
    TaskJournaled,
    TaskLate,
    TaskRetryScheduled,
    TokenRejected,
)
from plait.kernel.ids import Millis, RunId, TaskToken
from plait.kernel.machine import RunInfo
from plait.kernel.observer import Observer
from plait.kernel.task import Attempt

from .agent_use import AgentUse
from .tally import OTHER, Tally
from .token_flow import TokenFlow

LATENCIES = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_DURATIONS = (0.1, 1, 5, 15, 60, 300, 900, 3600, 14_400, 86_400, 604_800)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)

Step = Literal["started", "reopened", "completed", "failed", "cancelled"]
RunKey = tuple[str, str, Step]
"""Dialect, definition, and the outcome of the run."""

_RUNS: dict[type[Event], Step] = {
    RunStarted: "started",
    RunReopened: "reopened",
    RunCompleted: "completed",
    RunFailed: "failed",
    RunCancelled: "cancelled",
}
_ENDS = frozenset({"completed", "failed", "cancelled"})
_DEFINITIONS = 200
"""Maximum number of definitions counted separately, so that a program that generates names can't fill the memory."""
_ROUTES = 300


class HttpMeter:
    """Counts HTTP requests as the server answers them."""

    def __init__(self) -> None:
        self.requests: dict[tuple[str, int], int] = {}
        self.seconds: dict[str, Tally] = {}

    def observe(self, route: str, status: int, seconds: float) -> None:
        """Counts a request. `route` is the pattern, such as `GET /api/v1/runs/{id}`, never the requested path."""
        if route not in self.seconds:
            if len(self.seconds) >= _ROUTES:  # a caller passes paths: better a coarse number than a full memory
                route = OTHER
            self.seconds.setdefault(route, Tally(LATENCIES))
        key = (route, status)
        self.requests[key] = self.requests.get(key, 0) + 1
        self.seconds[route].add(seconds)


class Counters(Observer):
    def __init__(self) -> None:
        self.http = HttpMeter()
        self.decisions = 0
        self.events = 0
        self.runs: dict[RunKey, int] = {}
        self.durations = {status: Tally(_DURATIONS) for status in sorted(_ENDS)}
        self.retries = self.dead_letters = self.late = 0
        self.attempts = self.succeeded = self.failed = self.stopped = 0
        self.commits = Tally(LATENCIES)
        self._groups: dict[int, int] = {}
        self.lost_shards = 0
        self.store_errors = 0
        self.flow = TokenFlow()
        self.agents = AgentUse()
        self.node_of: Callable[[RunId, TaskToken], str] = _no_node
        """Returns the node of an open task; set by the owner of the engine."""
        self._definitions: set[str] = set()
        self._around = _Attempts(self)

    def committed(self, run: RunInfo, events: Sequence[Event], at: Millis) -> None:
        self.decisions += 1
        self.events += len(events)
        for event in events:
            kind = type(event)
            if kind in _RUNS:
                self._run(run, _RUNS[kind], at)
            elif kind is TaskRetryScheduled:
                self.retries += 1
                self._moved(run, event, at)
            elif kind is TaskDeadLettered:
                self.dead_letters += 1
            elif kind is TaskLate:
                self.late += 1
            elif isinstance(event, AgentFinished):
                self.agents.finished(run.namespace, run.definition, event)
            elif isinstance(event, TaskJournaled):
                self.agents.journaled(event)
            elif kind is TokenRejected or hasattr(kind, "flow"):
                self._moved(run, event, at)

    def _moved(self, run: RunInfo, event: Event, at: Millis) -> None:
        token = getattr(event, "token", None)
        node = self.node_of(run.run_id, token) if token is not None else ""
        self.flow.note(run.run_id, run.definition, node, event, at)

    def _run(self, run: RunInfo, step: Step, at: Millis) -> None:
        definition = run.definition
        if definition not in self._definitions:
            if len(self._definitions) < _DEFINITIONS:
                self._definitions.add(definition)
            else:
                definition = OTHER
        key = (run.dialect, definition, step)
        self.runs[key] = self.runs.get(key, 0) + 1
        if step in _ENDS:
            self.durations[step].add((at - run.created_at) / 1000)

    def attempting(self, attempt: Attempt) -> AbstractContextManager[object]:
        self.attempts += 1
        return self._around

    def grouped(self, writes: int, seconds: float) -> None:
        self._groups[writes] = self._groups.get(writes, 0) + 1
        self.commits.add(seconds)

    @property
    def groups(self) -> Tally:
        """Writes per group commit."""
        tally = Tally(_SIZES)
        for writes, times in self._groups.items():
            tally.add(writes, times)
        return tally

    def lost(self, shards: int) -> None:
        self.lost_shards += shards

    def unavailable(self, error: PlaitError) -> None:
        self.store_errors += 1


class _Attempts(AbstractContextManager[None]):
    """One context manager for all attempts: it has no state of its own per attempt."""

    def __init__(self, counters: Counters) -> None:
        self._counters = counters

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._counters.succeeded += 1
        elif issubclass(kind, asyncio.CancelledError):
            self._counters.stopped += 1
        else:
            self._counters.failed += 1


def _no_node(run_id: RunId, token: TaskToken) -> str:
    return ""
