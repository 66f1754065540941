"""Makes telemetry from commits. A record follows from a committed event, so a replay emits nothing, and the log is the
same with or without sinks. Without any, records are only counted, for `/metrics`."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Final

from plait.kernel.errors import PlaitError
from plait.kernel.events import Event, RunCancelled, RunCompleted, RunFailed, RunStarted
from plait.kernel.ids import Millis, RunId, caller_id
from plait.kernel.machine import RunInfo
from plait.kernel.task import Attempt

from .names import NAME
from .running import events as e
from .running.states import CATCH_BEGIN, TABLE_OF, ObjectType, passed
from .telemetry import Sinks, Telemetry

Steps = dict[str, tuple[ObjectType, str]]
"""The kinds of a run's steps, and the blocks that contain them."""

_RUNS: Final = 10_000
"""The number of runs whose steps are remembered."""


class TelemetryObserver:
    """Remembers the kind of each step while its run lives, or until many other runs have had events since."""

    def __init__(self, sinks: Sinks) -> None:
        self._sinks = sinks
        self._steps: OrderedDict[RunId, dict[str, tuple[ObjectType, str]]] = OrderedDict()

    def committed(self, run: RunInfo, events: Sequence[Event], at: Millis) -> None:
        if run.dialect != NAME:
            return
        steps = self._known(run.run_id)
        if not self._sinks.listening:
            for event in events:
                _count(self._sinks, steps, event)
        else:
            self._tell(run.run_id, events, at, steps)
        if any(isinstance(each, RunCompleted | RunFailed | RunCancelled) for each in events):
            self._steps.pop(run.run_id, None)

    def _known(self, run_id: RunId) -> dict[str, tuple[ObjectType, str]]:
        found = self._steps.setdefault(run_id, {})
        self._steps.move_to_end(run_id)
        if len(self._steps) > _RUNS:
            self._steps.popitem(last=False)
        return found

    def _tell(self, run_id: RunId, events: Sequence[Event], at: Millis, steps: Steps) -> None:
        for part in _iterations(events):
            if isinstance(part[-1], e.IterationEnded):
                self._sinks.tell(Telemetry(at, "iteration.start", caller_id(run_id), details={"iteration": part[-1].n}))
            for event in part:
                for record in _records(run_id, event, at, steps):
                    self._sinks.tell(record)

    def attempting(self, attempt: Attempt) -> None:
        return None

    def grouped(self, writes: int, seconds: float) -> None:
        return None

    def lost(self, shards: int) -> None:
        return None

    def unavailable(self, error: PlaitError) -> None:
        return None


def _records(run_id: RunId, event: Event, at: Millis, steps: Steps) -> Iterator[Telemetry]:
    run = caller_id(run_id)

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
        case RunCancelled(reason=reason):
            yield made("workflow.error", code="cancelled", message=reason or "the run was cancelled")
        case _:
            return


def _count(sinks: Sinks, steps: Steps, event: Event) -> None:
    """Counts the records that `_records` would make."""
    match event:
        case e.StepCreated(step=step):
            steps[step.id] = (step.object_type, step.block_id)
            sinks.count("step.created")
            sinks.count("dependency.resolved", len(step.dependencies))
        case e.StepMoved(step_id=id, source=source, to=to, dependencies=found):
            sinks.count("dependency.resolved", len(found))
            sinks.count("state.transition", _distance(steps.get(id, ("VariableAssignment", ""))[0], source, to))
        case e.StepCaught():
            sinks.count("state.transition")
            sinks.count("step.error")
        case e.StepFailed():
            sinks.count("step.error")
        case e.EventCreated():
            sinks.count("event.published")
        case e.EventCompleted() | e.EventFailed():
            sinks.count("event.state")
        case e.IterationEnded():
            sinks.count("iteration.start")
            sinks.count("iteration.end")
            sinks.count("workflow.paused", event.paused)
        case RunStarted():
            sinks.count("workflow.start")
        case RunCompleted():
            sinks.count("workflow.complete")
        case RunFailed() | RunCancelled():
            sinks.count("workflow.error")
        case _:
            return


@lru_cache(1_000)
def _distance(kind: ObjectType, source: str, to: str) -> int:
    return len(passed(TABLE_OF[kind], source, to))


def _iterations(events: Sequence[Event]) -> Iterator[list[Event]]:
    """The events of a commit, split by iteration."""
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
