"""Compensation of children: a child's work is part of its parent's work, across dialects.

A child that ends reports whether it did anything that can be compensated; its parent records that. When the parent
rolls back, the child takes its place among the compensators by the time it ended: it is asked to compensate, and the
parent continues when the child reports its end again. A child that is still running is cancelled and compensates by
itself; a parent with compensators of its own waits for that first, because that child's work is the newest.
"""

from __future__ import annotations

from .effects import CancelChild, Decision, Finish
from .errors import ErrorInfo
from .events import ChildCompensable, RollbackStarted, RollbackStep
from .ids import RunId, TaskToken, caller_id
from .inputs import Cancel, ChildFinished, CompensateChild
from .retry import ONCE
from .rollback import Rollback
from .run import Run
from .task import Policy, Task
from .unit_of_work import UnitOfWork

KIND = "child"
_PREFIX = "~child:"


def compensations(run: Run) -> list[Task]:
    """Compensators of the run's own tasks and of its children, in order of completion."""
    own = run.machine.compensations()
    children = [child for child in run.state.children.values() if child.parent == run.id]
    if not children:
        return own
    merged = [(number, task) for number, task in enumerate(own, 1)]
    merged += [(child.after, _task(child.run_id)) for child in children]
    return [task for _, task in sorted(merged, key=lambda placed: placed[0])]


def has_compensations(run: Run) -> bool:
    """Whether anything the run did can still be compensated, or failed to be."""
    rollback = Rollback.begun(RollbackStarted("request"), run.state.rollback)
    return has_failed(run) or rollback.next(compensations(run)) is not None


def has_failed(run: Run) -> bool:
    """Whether a compensator failed for good and was neither retried nor discarded since."""
    return run.state.rollback is not None and bool(run.state.rollback.failed)


def note(child: ChildFinished, run: Run, unit: UnitOfWork) -> None:
    """Records that a child with something to compensate has ended. A repeated report changes nothing."""
    found = ChildCompensable(child.run_id, run.id, len(run.machine.compensations()))
    if run.state.children.get(child.run_id) != found:
        run.emit(found, unit)


def ask(task: Task, run: Run, unit: UnitOfWork) -> None:
    run.emit(RollbackStep(task.token, "asked"), unit)
    number = run.state.seq
    unit.send(task.input, f"~compensate:{run.id}:{number}", CompensateChild(run.id, task.token, number))


def answered(child: ChildFinished, run: Run) -> Task | None:
    """The compensator that the run waits for, if this report completes it."""
    rollback, over = run.state.rollback, child.compensation_failed or not child.compensable
    if rollback is None or not run.state.rolling_back or rollback.asking != _PREFIX + child.run_id or not over:
        return None
    return _task(child.run_id)


def answer_at_once(request: CompensateChild, report: ChildFinished, run: Run, unit: UnitOfWork) -> None:
    """Reports success at once, because there is nothing to compensate."""
    unit.send(request.parent, f"~child:{run.id}:compensated:{request.number}", report)


def incomplete(child: ChildFinished) -> ErrorInfo | None:
    """Why the compensation of a child failed, if it did."""
    if not child.compensation_failed:
        return None
    text = f"child run {caller_id(child.run_id)} could not compensate all that it did: see its dead letters"
    return ErrorInfo("kernel.child_not_compensated", text, kind="compensation")


def _task(run_id: RunId) -> Task:
    label = f"compensation of child run {caller_id(run_id)}"
    return Task(TaskToken(_PREFIX + run_id), label, KIND, run_id, Policy(ONCE), "")


def stopped(input: object, decision: Decision) -> list[RunId]:
    """The children that a decision cancels, if the run then rolls back: they compensate as well."""
    if type(input) is Cancel:
        rolls_back = input.compensate or input.cause != "cancel"
    else:
        rolls_back = any(type(effect) is Finish and effect.status == "failed" for effect in decision.effects)
    return [effect.run_id for effect in decision.effects if type(effect) is CancelChild] if rolls_back else []


def note_stopped(run: Run, unit: UnitOfWork) -> None:
    """Records the children that were running when the rollback began as the newest work to compensate."""
    after = len(run.machine.compensations())
    for run_id in unit.stopped:
        if run_id not in unit.unborn:
            run.emit(ChildCompensable(run_id, run.id, after), unit)
