"""Continuing a run that has ended: what failed or was unfinished runs again, what succeeded stays.

Later steps are recomputed where that has no outside effect (skips, code, returns, arrays). Tools, functions and
workflows that ran on a value that may have changed are kept and marked as stale; with the scope `downstream` they
run again, too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from plait.dialects.refs.definition.order import settling_order
from plait.dialects.refs.definition.plan import StepPlan
from plait.kernel.effects import SetTimer
from plait.kernel.errors import Conflict
from plait.kernel.events import RunReopened
from plait.kernel.ids import Millis, TaskToken
from plait.kernel.inputs import Resume

from .decision_builder import DecisionBuilder
from .events import RefsBegun, RefsResumed
from .failures import got_an_answer
from .recovery import under_way_effects
from .refs_run import RefsRun
from .state import START, TRANSFORM, Work, split_id, work_id
from .unfinished_decision import finish_loops

DEADLINE = TaskToken("~deadline")
"""The kernel's own timer."""

Scope = Literal["failed", "downstream"]


@dataclass(slots=True)
class Resumption:
    """What a resume changes."""

    rerun: dict[str, bool] = field(default_factory=dict[str, bool])
    """Ids to rerun; True: with another idempotency key."""
    recomputed: list[str] = field(default_factory=list[str])
    stale: list[str] = field(default_factory=list[str])
    changed: set[str] = field(default_factory=set[str])
    """Steps whose output may change."""


def resume(builder: DecisionBuilder, request: Resume) -> None:
    scope: Scope = "downstream" if request.scope == "downstream" else "failed"
    _check(builder, request.deadline)
    found = resumption(builder.run, scope)
    if not found.rerun and not _unfinished(builder):
        raise _nothing("every step has succeeded")
    _reopen(builder, found, scope, request.deadline)


def settle_letter(builder: DecisionBuilder, request: Resume) -> None:
    """Applies a person's decision about a dead letter: only its step is retried."""
    if request.verdict != "retry":
        return
    name, index = split_id((request.token or TaskToken("")).removesuffix(TRANSFORM))
    work = builder.run.find(name, index)
    if work is None or work.status != "failed" or builder.state.status == "running":
        raise Conflict(
            "kernel.dead_letter_settled",
            "the run does not wait for this step any more",
            why="it went on without it, or has ended",
            fix="discard the dead letter, or retry the run",
        )
    _check(builder, request.deadline)
    found = resumption(builder.run, "failed", only=work_id(name, index))
    _reopen(builder, found, "failed", request.deadline)


def _check(builder: DecisionBuilder, deadline: Millis | None) -> None:
    state = builder.state
    if state.status == "running":
        raise _nothing("the run has not ended")
    if state.how in ("return", "bail"):
        raise _nothing(f'the run was ended by `{state.how}` of step "{state.ended_by}"')
    due = state.deadline if deadline is None else deadline
    if due is not None and due <= builder.now:
        raise Conflict(
            "deadline_passed",
            "the run's deadline has passed",
            fix="give a new one: retry with `deadline_ms`",
        )


def _nothing(why: str) -> Conflict:
    return Conflict("nothing_to_resume", "there is nothing to resume", why=why, fix="start a new run, or fork this one")


def _unfinished(builder: DecisionBuilder) -> bool:
    return any(builder.run.work(step.name).status in ("waiting", "running") for step in builder.plan.order)


def _reopen(builder: DecisionBuilder, found: Resumption, scope: Scope, deadline: Millis | None) -> None:
    builder.decision.reopen = "retry"
    tokens = [*found.rerun, *(f"{id}{TRANSFORM}" for id in found.rerun)]
    builder.decision.retried = [TaskToken(token) for token in tokens]
    builder.folding.fold(RunReopened("retry"), builder.now)  # the kernel records it before the events of this decision
    renewed = [id for id, again in found.rerun.items() if again]
    builder.record(RefsResumed(scope, list(found.rerun), renewed, found.recomputed, found.stale, deadline))
    builder.over = False
    due = builder.state.deadline
    if due is not None:
        builder.effect(SetTimer(DEADLINE, due))
    begin(builder)
    for effect in under_way_effects(builder):
        builder.effect(effect)
    finish_loops(builder)


def begin(builder: DecisionBuilder) -> None:
    """Begins the steps of a run that ended, or was forked, before they had begun: now, or at their start time."""
    start_at = builder.plan.start_at
    if builder.state.begun:
        return
    if start_at is not None and start_at > builder.now:
        builder.effect(SetTimer(START, Millis(start_at)))
    else:
        builder.record(RefsBegun())


# -- what is rerun -----------------------------------------------------------------------------------------------------


def resumption(run: RefsRun, scope: Scope, only: str | None = None) -> Resumption:
    """`only`: of what failed, rerun just this step or iteration; what was compensated is redone in any case."""
    found = Resumption()
    for name in settling_order({step.name: step.needs for step in run.plan.order}):
        step = run.plan.steps[name]
        if step.for_each is not None and name in run.state.loops:
            _loop(run, step, scope, only, found)
        else:
            _step(run, step, scope, only, found)
    return found


def _step(run: RefsRun, step: StepPlan, scope: Scope, only: str | None, found: Resumption) -> None:
    work = run.work(step.name)
    if _again(work) and (work.compensated or only in (None, step.name)):
        found.rerun[step.name] = _renews(step, work)
        found.changed.add(step.name)
    elif work.status == "waiting" or work.status == "running":
        found.changed.add(step.name)
    elif step.reads & found.changed and not work.preset:
        _reads_changed(step, work, scope, found)


def _reads_changed(step: StepPlan, work: Work, scope: Scope, found: Resumption) -> None:
    if work.status == "skipped" or step.kind in ("code", "return"):
        found.recomputed.append(step.name)
        found.changed.add(step.name)
    elif work.status != "completed":
        return
    elif scope == "downstream":
        found.rerun[step.name] = True
        found.changed.add(step.name)
    else:
        found.stale.append(step.name)


def _loop(run: RefsRun, step: StepPlan, scope: Scope, only: str | None, found: Resumption) -> None:
    around, loop = run.work(step.name), run.state.loops[step.name]
    assert step.for_each is not None
    items_change = step.for_each.ref.head in found.changed or bool(step.needs & found.rerun.keys())
    if around.preset:
        return
    if items_change and any(work.compensated for work in loop.works.values()):
        found.rerun[step.name] = True  # nothing of it is left to keep
        found.changed.add(step.name)
    elif items_change and (step.kind == "code" or not loop.works):
        found.recomputed.append(step.name)
        found.changed.add(step.name)
    elif items_change and (scope == "downstream" or around.status == "running"):
        found.rerun[step.name] = True
        found.changed.add(step.name)
    elif items_change:
        found.stale.append(step.name)
    else:
        _iterations(run, step, scope, only, found)


def _iterations(run: RefsRun, step: StepPlan, scope: Scope, only: str | None, found: Resumption) -> None:
    works = run.state.loops[step.name].works
    reads_changed = bool(step.reads & found.changed)
    for index in sorted(works):
        work, id = works[index], work_id(step.name, index)
        if _again(work) and (work.compensated or only in (None, id)):
            found.rerun[id] = _renews(step, work)
        elif work.status == "completed" and reads_changed:
            if step.kind == "code" or scope == "downstream":
                found.rerun[id] = step.kind != "code"
            else:
                found.stale.append(id)
    around = run.work(step.name)
    if around.status in ("waiting", "running") or any(split_id(id)[0] == step.name for id in found.rerun):
        found.changed.add(step.name)
    elif around.status == "failed" and only in (None, step.name):
        found.rerun[step.name] = False
        found.changed.add(step.name)


def _again(work: Work) -> bool:
    return work.status == "failed" or (work.compensated and work.status == "completed")


def _renews(step: StepPlan, work: Work) -> bool:
    """A failed transform keeps the answer of its tool; what was compensated is redone under another key."""
    return work.compensated or (not work.raw and got_an_answer(work.error))
