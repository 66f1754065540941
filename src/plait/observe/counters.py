"""What happened in one engine, in plain integers: cheap enough to count always."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Literal

from plait.kernel.errors import PlaitError
from plait.kernel.events import (
    Event,
    RunCancelled,
    RunCompleted,
    RunFailed,
    RunReopened,
    RunStarted,
    TaskDeadLettered,
    TaskLate,
    TaskRetryScheduled,
)
from plait.kernel.ids import Millis
from plait.kernel.machine import RunInfo
from plait.kernel.observer import Observer
from plait.kernel.task import Attempt

from .http_meter import OTHER, HttpMeter
from .lag import LoopLag
from .tally import DURATIONS, LATENCIES, SIZES, Tally

Step = Literal["started", "reopened", "completed", "failed", "cancelled"]
RunKey = tuple[str, str, Step]
"""Dialect, definition, and what became of the run."""

_RUNS: dict[type[Event], Step] = {
    RunStarted: "started",
    RunReopened: "reopened",
    RunCompleted: "completed",
    RunFailed: "failed",
    RunCancelled: "cancelled",
}
_COUNTED = frozenset({*_RUNS, TaskRetryScheduled, TaskDeadLettered, TaskLate})
_ENDS = frozenset({"completed", "failed", "cancelled"})
_DEFINITIONS = 200
"""Definitions with numbers of their own; a program that makes names up can't fill the memory."""


class Counters(Observer):
    def __init__(self) -> None:
        self.http = HttpMeter()
        self.lag = LoopLag()
        self.decisions = 0
        self.events = 0
        self.runs: dict[RunKey, int] = {}
        self.durations = {status: Tally(DURATIONS) for status in sorted(_ENDS)}
        self.retries = self.dead_letters = self.late = 0
        self.attempts = self.succeeded = self.failed = self.stopped = 0
        self.commits = Tally(LATENCIES)
        self.groups = Tally(SIZES)
        self.lost_shards = 0
        self.store_errors = 0
        self._definitions: set[str] = set()
        self._around = _Attempts(self)

    def committed(self, run: RunInfo, events: Sequence[Event], at: Millis) -> None:
        self.decisions += 1
        self.events += len(events)
        for event in events:
            if type(event) in _COUNTED:  # few are
                self._count(run, type(event), at)

    def _count(self, run: RunInfo, kind: type[Event], at: Millis) -> None:
        if kind is TaskRetryScheduled:
            self.retries += 1
        elif kind is TaskDeadLettered:
            self.dead_letters += 1
        elif kind is TaskLate:
            self.late += 1
        else:
            self._run(run, _RUNS[kind], at)

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
        return self._around

    def grouped(self, writes: int, seconds: float) -> None:
        self.groups.add(writes)
        self.commits.add(seconds)

    def lost(self, shards: int) -> None:
        self.lost_shards += shards

    def unavailable(self, error: PlaitError) -> None:
        self.store_errors += 1


class _Attempts(AbstractContextManager[None]):
    """One for all attempts: it keeps nothing of any of them."""

    def __init__(self, counters: Counters) -> None:
        self._counters = counters

    def __enter__(self) -> None:
        self._counters.attempts += 1

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._counters.succeeded += 1
        elif issubclass(kind, asyncio.CancelledError):
            self._counters.stopped += 1
        else:
            self._counters.failed += 1
