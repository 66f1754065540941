"""Telemetry: what the log says, told to sinks as it happens, without any effect on execution.

It follows commits. A record is made from a committed event, so a replay tells nothing and the log is the same whether
anyone listens. Sinks have a queue each and a thread that empties it: one that fails or is slow loses records, which
are counted.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import msgspec

from plait.kernel.errors import PlaitError
from plait.kernel.events import Event, RunCancelled, RunCompleted, RunFailed, RunStarted
from plait.kernel.ids import Millis, RunId, caller_id
from plait.kernel.machine import RunInfo
from plait.kernel.task import Attempt

from .names import NAME
from .running import events as e
from .running.states import CATCH_BEGIN, TABLE_OF, ObjectType, passed

log = logging.getLogger("plait.afl")

_WAITING: Final = 10_000
"""Records that a slow sink may be behind."""


class Telemetry(msgspec.Struct, frozen=True, omit_defaults=True):
    timestamp: Millis
    eventType: str
    workflowId: str
    stepId: str = ""
    blockId: str = ""
    state: str = ""
    details: dict[str, Any] = {}


Sink = Callable[[Telemetry], object]


class Sinks:
    """Those that are told, and how many records each has lost."""

    def __init__(self) -> None:
        self._sinks: list[_Queue] = []
        self.counts: dict[str, int] = {}
        """Records by type, for `/metrics`."""

    def add(self, sink: Sink) -> None:
        self._sinks.append(_Queue(sink))

    @property
    def dropped(self) -> int:
        return sum(each.dropped for each in self._sinks)

    def tell(self, record: Telemetry) -> None:
        self.counts[record.eventType] = self.counts.get(record.eventType, 0) + 1
        if log.isEnabledFor(logging.DEBUG):
            log.debug("%s %s %s", record.eventType, record.stepId, record.details)
        for each in self._sinks:
            each.put(record)

    def close(self) -> None:
        for each in self._sinks:
            each.close()


class _Queue:
    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._records: queue.Queue[Telemetry | None] = queue.Queue(_WAITING)
        self._thread: threading.Thread | None = None
        self.dropped = 0

    def put(self, record: Telemetry) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="plait-telemetry", daemon=True)
            self._thread.start()
        try:
            self._records.put_nowait(record)
        except queue.Full:
            self.dropped += 1

    def _work(self) -> None:
        while (record := self._records.get()) is not None:
            try:
                self._sink(record)
            except Exception:
                self.dropped += 1

    def close(self) -> None:
        """What is queued is still told, unless the sink is stuck."""
        if self._thread is not None:
            try:
                self._records.put(None, timeout=1)
            except queue.Full:
                return
            self._thread.join(timeout=5)


class TelemetryObserver:
    """Makes records of committed events. Of a step it remembers what it is, as long as its run lives."""

    def __init__(self, sinks: Sinks) -> None:
        self._sinks = sinks
        self._steps: dict[RunId, dict[str, tuple[ObjectType, str]]] = {}

    def committed(self, run: RunInfo, events: Sequence[Event], at: Millis) -> None:
        if run.dialect != NAME:
            return
        for part in _iterations(events):
            if isinstance(part[-1], e.IterationEnded):
                self._sinks.tell(
                    Telemetry(at, "iteration.start", caller_id(run.run_id), details={"iteration": part[-1].n})
                )
            for event in part:
                for record in self._records(run.run_id, event, at):
                    self._sinks.tell(record)
        if any(isinstance(each, RunCompleted | RunFailed | RunCancelled) for each in events):
            self._steps.pop(run.run_id, None)

    def attempting(self, attempt: Attempt) -> None:
        return None

    def grouped(self, writes: int, seconds: float) -> None:
        return None

    def lost(self, shards: int) -> None:
        return None

    def unavailable(self, error: PlaitError) -> None:
        return None

    def _records(self, run_id: RunId, event: Event, at: Millis) -> Iterator[Telemetry]:
        run, steps = caller_id(run_id), self._steps.setdefault(run_id, {})

        def made(kind: str, step: str = "", state: str = "", **details: Any) -> Telemetry:
            return Telemetry(at, kind, run, step, steps.get(step, ("", ""))[1], state, details)

        match event:
            case RunStarted():
                yield made("workflow.start")
            case e.StepCreated(step=step):
                steps[step.id] = (step.object_type, step.block_id)
                yield made("step.created", step.id, step.state)
                for dependency in step.dependencies:
                    yield made("dependency.resolved", step.id, stepId=step.id, dependencyId=dependency)
            case e.StepMoved(step_id=id, source=source, to=to, dependencies=found):
                for dependency in found:
                    yield made("dependency.resolved", id, stepId=id, dependencyId=dependency)
                yield from _moves(made, id, steps.get(id, ("VariableAssignment", ""))[0], source, to)
            case e.StepCaught(step_id=id, state=state, error=error):
                yield made("state.transition", id, CATCH_BEGIN, fromState=state, toState=CATCH_BEGIN)
                yield made("step.error", id, state, code=error.code, message=error.message, caught=True)
            case e.StepFailed(step_id=id, state=state, error=error):
                yield made("step.error", id, state, code=error.code, message=error.message)
            case e.EventCreated(event=found):
                yield made(
                    "event.published",
                    found.step_id,
                    eventId=found.event_id,
                    stepId=found.step_id,
                    facet=found.event_type,
                )
            case e.EventCompleted(event_id=id, step_id=step):
                yield made("event.state", step, "event.Completed", eventId=id)
            case e.EventFailed(event_id=id, step_id=step):
                yield made("event.state", step, "event.Error", eventId=id)
            case e.IterationEnded():
                yield made("iteration.end", iteration=event.n, stepsCreated=event.created, stepsUpdated=event.moved)
                if event.paused:
                    yield made("workflow.paused", iteration=event.n)
            case RunCompleted():
                yield made("workflow.complete")
            case RunFailed(error=error):
                yield made("workflow.error", code=error.code, message=error.message)
            case _:
                return


def _iterations(events: Sequence[Event]) -> Iterator[list[Event]]:
    """The events of a commit, each iteration apart."""
    part: list[Event] = []
    for event in events:
        part.append(event)
        if isinstance(event, e.IterationEnded):
            yield part
            part = []
    if part:
        yield part


def _moves(made: Callable[..., Telemetry], id: str, kind: ObjectType, source: str, to: str) -> Iterator[Telemetry]:
    before = source
    for state in passed(TABLE_OF[kind], source, to):
        yield made("state.transition", id, state, fromState=before, toState=state)
        before = state
