"""Folds events into a run, one by one. It decides nothing, and never fails on what was once recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import msgspec
from msgspec import Raw

from plait.dialects.refs.definition.plan import Plan
from plait.dialects.refs.recording.step_names import counted
from plait.kernel.events import (
    Event,
    RollbackStarted,
    RollbackStep,
    RunCancelled,
    RunCompleted,
    RunFailed,
    RunReopened,
    RunStarted,
)
from plait.kernel.ids import Millis
from plait.kernel.machine import RunInfo
from plait.kernel.values import ABSENT, NULL

from . import events as e
from .compensation_tokens import compensated
from .contexts import ctx_of
from .operations import applied, touched
from .plans import Plans
from .recorded_calls import RecordedCall, grow, own_plan
from .refs_run import LoopRun, RefsRun
from .state import Done, Loop, RefsStart, RefsState, Work, split_id

_encode = msgspec.json.Encoder().encode

_OWN = frozenset(get_args(e.RefsEvent))


def begun(event: RunStarted, info: RunInfo, plans: Plans) -> RefsRun:
    """The initial state of a run."""
    data: Any = event.data
    start = data if isinstance(data, RefsStart) else _recorded(data)
    plan = plans.of(start.definition)
    state = RefsState(start.definition, event.input, plan.mode, deadline=event.deadline, seq=1)
    return RefsRun(state, plan_of(state, plan), ctx_of(info))


def plan_of(state: RefsState, plan: Plan) -> Plan:
    """The plan of a run. A recording has its own, which grows."""
    return own_plan(plan, state.recorded) if plan.mode == "recording" else plan


def _recorded(data: dict[str, Any]) -> RefsStart:
    return msgspec.convert({**data, "definition": Raw(_encode(data["definition"]))}, RefsStart)


class Folding:
    """What folding needs beside the run."""

    __slots__ = ("at", "changes", "plans", "run")

    def __init__(self, run: RefsRun, plans: Plans) -> None:
        self.run = run
        self.plans = plans
        self.at = Millis(0)
        self.changes = 0
        """The number of step events: kernel events, such as a rollback's, change no value that a step may reference."""

    def fold(self, event: Event, at: Millis) -> None:
        self.run.state.seq += 1
        self.at = at
        self.changes += type(event) in _OWN
        if self.run.state.succeeded and type(event) is not e.RefsForked:
            self.run.state.succeeded = ""
        change = _FOLDS.get(type(event))
        if change is not None:
            change(self, event)

    # -- steps -----------------------------------------------------------------------------------------------------

    def step_started(self, event: e.StepStarted) -> None:
        run, step = self.run, self.run.plan.steps[event.step]
        if event.index is None:
            work = run.work(event.step)
        else:
            loop = run.state.loops[event.step]
            work = loop.works.get(event.index)
            if work is None:
                work = loop.works[event.index] = Work(generation=run.work(event.step).generation)
            run.loops[event.step].begin(event.index)
        work.status, work.input, work.unresolved = "running", event.input, event.unresolved
        work.started_at, work.ended_at, work.began, work.late = self.at, None, run.state.seq, False
        run.in_flight += step.kind != "workflow"

    def step_raw(self, event: e.StepRaw) -> None:
        work = self.run.work(event.step, event.index)
        work.raw, work.attempts = event.raw, event.attempts

    def step_completed(self, event: e.StepCompleted) -> None:
        run, step = self.run, self.run.plan.steps[event.step]
        work = run.work(event.step, event.index)
        self._ended(event.step, event.index, work)
        again = work.status in ("completed", "failed")  # only a preset of a recording may replace a result
        work.status, work.output, work.attempts = "completed", event.output, event.attempts
        work.preset, work.late, work.error, work.stale, work.compensated = event.preset, event.late, None, False, False
        if step.compensator is not None and not event.preset and (step.for_each is None or event.index is not None):
            run.state.done.append(Done(event.step, event.index, work.generation, event.output))
        if event.index is None:
            run.state.succeeded = event.step if step.bail is not None and not (event.preset or event.late) else ""
            run.settle(event.step, again=again)
            self._recorded_ended(event.step, work)
        elif event.step in run.loops:
            run.loops[event.step].settled += 1

    def step_skipped(self, event: e.StepSkipped) -> None:
        work = self.run.work(event.step)
        work.status, work.output, work.ended_at = "skipped", NULL, self.at
        work.skipped_by, work.seen, work.stale = event.condition, event.value, False
        self.run.settle(event.step)

    def step_failed(self, event: e.StepFailed) -> None:
        run, step = self.run, self.run.plan.steps[event.step]
        work = run.work(event.step, event.index)
        self._ended(event.step, event.index, work)
        work.status, work.output, work.error = "failed", NULL, event.error
        work.attempts, work.late = event.attempts, event.late
        if event.index is None:
            if step.on_error == "continue":
                run.settle(event.step)
            self._recorded_ended(event.step, work)
        elif (loop := run.loops.get(event.step)) is not None:
            loop.settled += 1
            loop.failed += 1

    def _ended(self, step: str, index: int | None, work: Work) -> None:
        work.ended_at = self.at
        if work.status != "running":
            return
        run = self.run
        loop = run.loops.get(step)
        if index is None and loop is None:
            run.in_flight -= run.plan.steps[step].kind != "workflow"
        elif index is not None and loop is not None:
            loop.running -= 1
            run.in_flight -= run.plan.steps[step].kind != "workflow"
        elif index is None:
            del run.loops[step]

    def foreach_opened(self, event: e.ForeachOpened) -> None:
        run, step = self.run, self.run.plan.steps[event.step]
        run.state.loops[event.step] = Loop(event.count)
        work = run.work(event.step)
        work.status, work.started_at, work.began = "running", self.at, run.state.seq
        run.loops[event.step] = LoopRun(run.items(step) or [])

    # -- recordings ------------------------------------------------------------------------------------------------

    def call_recorded(self, event: e.CallRecorded) -> None:
        run, state = self.run, self.run.state
        call = RecordedCall(
            tool=event.tool,
            server=event.server,
            input=event.input,
            session=event.session,
            caller=event.call if event.asks else "",
            read_only=event.read_only,
        )
        state.recorded[event.step] = call
        state.counters = counted(event.step, state.counters)
        run.append(grow(run.plan, event.step, call), preset=event.preset)

    def input_merged(self, event: e.InputMerged) -> None:
        run = self.run
        run.state.input = Raw(_encode({**run.input, **msgspec.json.decode(event.fields)}))
        run.forget_input()

    def _recorded_ended(self, name: str, work: Work) -> None:
        """Marks the steps that read a result which has been replaced since."""
        call = self.run.state.recorded.get(name)
        if call is None:
            return
        call.began, call.ended = work.began, self.run.state.seq
        for reader in self.run.plan.dependents[name]:
            if self.run.work(reader).status == "completed":
                self.run.work(reader).stale = True

    # -- the run ---------------------------------------------------------------------------------------------------

    def refs_started(self, event: e.RefsStarted) -> None:
        self.run.state.begun = event.start_at is None

    def refs_begun(self, event: e.RefsBegun) -> None:
        self.run.state.begun = True

    def steps_patched(self, event: e.StepsPatched) -> None:
        self.run.state.patches += 1
        self._patch(event.ops)

    def refs_forked(self, event: e.RefsForked) -> None:
        for call in self.run.state.recorded.values():
            call.caller = ""  # callers wait for the other run
        self._patch(event.ops)

    def _patch(self, ops: list[dict[str, Any]]) -> None:
        run = self.run
        if not ops:
            return
        definition = Raw(_encode(applied(msgspec.json.decode(bytes(run.state.definition)), ops)))
        plan = self.plans.of(definition)
        for name in touched(ops):
            run.state.steps.pop(name, None)
            run.state.loops.pop(name, None)
            for reader in run.plan.steps.values():
                if name in reader.reads and run.work(reader.name).status == "completed":
                    run.work(reader.name).stale = True
        run.state.definition = definition
        run.rebuild(plan)

    def refs_resumed(self, event: e.RefsResumed) -> None:
        state = self.run.state
        if event.deadline is not None:
            state.deadline = event.deadline
        renewed = frozenset(event.renewed)
        for id in (*event.rerun, *event.recomputed):
            self._reset(*split_id(id), renewed=id in renewed)
        for id in event.stale:
            self.run.work(*split_id(id)).stale = True
        self.run.rebuild(self.run.plan)

    def _reset(self, name: str, index: int | None, *, renewed: bool) -> None:
        """Resets the work, but keeps the answer of a tool, for its transform."""
        state = self.run.state
        old = self.run.work(name, index)
        if index is None and name in state.loops and name not in state.steps:
            return
        keeps_raw = bool(old.raw) and not renewed
        new = Work(
            status="running" if keeps_raw else "waiting",
            input=old.input if keeps_raw else ABSENT,
            raw=old.raw if keeps_raw else ABSENT,
            generation=self._generation(name, index, old) + renewed,
            attempts=old.attempts if keeps_raw else 0,
            started_at=old.started_at if keeps_raw else None,
            began=old.began,
        )
        if index is not None:
            state.loops[name].works[index] = new
            around = self.run.work(name)
            around.status, around.error, around.output, around.ended_at = "running", None, NULL, None
        else:
            state.steps[name] = new
            state.loops.pop(name, None)

    def _generation(self, name: str, index: int | None, old: Work) -> int:
        """The highest generation of a restarted loop's iterations, which continue from there."""
        loop = self.run.state.loops.get(name) if index is None else None
        works = () if loop is None else loop.works.values()
        return max((old.generation, *(work.generation for work in works)))

    def refs_ended(self, event: e.RefsEnded) -> None:
        self.run.state.returns = event.returns
        self.run.state.how, self.run.state.ended_by = event.how, event.step

    # -- the kernel's events ---------------------------------------------------------------------------------------

    def rolling_back(self, event: RollbackStarted) -> None:
        if event.cause != "request":
            self._over("cancelled" if event.cause == "cancel" else "failed")
            self.run.state.error = event.error

    def rolled_back(self, event: RollbackStep) -> None:
        if event.status != "completed":
            return
        found = split_id(event.child) if event.child else compensated(event.at)
        work = None if found is None else self.run.find(*found)
        if work is not None:
            work.compensated = True

    def run_completed(self, event: RunCompleted) -> None:
        self._over("completed")

    def run_failed(self, event: RunFailed) -> None:
        self._over("failed")
        self.run.state.error = event.error

    def run_cancelled(self, event: RunCancelled) -> None:
        self._over("cancelled")

    def _over(self, status: Any) -> None:
        state = self.run.state
        if state.status == "running":
            state.end_seq = state.seq
        state.status = status

    def reopened(self, event: RunReopened) -> None:
        if event.cause == "retry":
            state = self.run.state
            state.status, state.how, state.ended_by, state.error, state.end_seq = "running", "", "", None, 0


_FOLDS: dict[type[Event], Callable[[Folding, Any], None]] = {
    e.RefsStarted: Folding.refs_started,
    e.RefsBegun: Folding.refs_begun,
    e.StepStarted: Folding.step_started,
    e.StepRaw: Folding.step_raw,
    e.StepCompleted: Folding.step_completed,
    e.StepSkipped: Folding.step_skipped,
    e.StepFailed: Folding.step_failed,
    e.ForeachOpened: Folding.foreach_opened,
    e.StepsPatched: Folding.steps_patched,
    e.RefsForked: Folding.refs_forked,
    e.RefsResumed: Folding.refs_resumed,
    e.RefsEnded: Folding.refs_ended,
    e.CallRecorded: Folding.call_recorded,
    e.InputMerged: Folding.input_merged,
    RollbackStarted: Folding.rolling_back,
    RollbackStep: Folding.rolled_back,
    RunCompleted: Folding.run_completed,
    RunFailed: Folding.run_failed,
    RunCancelled: Folding.run_cancelled,
    RunReopened: Folding.reopened,
}
