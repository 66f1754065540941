"""How a run ends: at once, or after its work has been compensated; and how an ended run is reopened."""

from __future__ import annotations

from typing import Literal, assert_never

from msgspec.structs import replace

from . import child_compensation
from .effects import Finish
from .errors import Conflict, ErrorInfo, Stale
from .events import (
    RollbackEnded,
    RollbackStarted,
    RollbackStep,
    RunCancelled,
    RunCompleted,
    RunFailed,
    RunReopened,
)
from .ids import TaskToken, caller_id
from .inputs import Cancel, ChildFinished, CompensateChild, TaskResult
from .open_tasks import open_task, revoke_all, revoke_waiting
from .recovery import start_again
from .rollback import FinalEvent, Rollback
from .run import Run, cancelled, letter_id
from .store import Settled
from .task import Task
from .unit_of_work import UnitOfWork

_NO_CHILD = TaskToken("")


def finish(effect: Finish, run: Run, unit: UnitOfWork) -> None:
    """Ends the run as its machine decided."""
    if effect.status == "completed":
        end(RunCompleted(effect.output, effect.partial), run, unit)
        return
    error = effect.error or ErrorInfo("kernel.failed", "the run failed")
    if run.machine.compensates_failures:
        roll_back(RollbackStarted("failure", error, data=effect.data), run, unit)
    else:
        revoke_all(run, unit)
        end(RunFailed(error, effect.data), run, unit)


def must_run(run: Run) -> None:
    """Raises if the run has ended or is rolling back: it then takes no inputs."""
    if run.state.status != "running":
        raise Conflict(
            "RUN_FINISHED",
            f"run {caller_id(run.id)} has {run.state.status}",
            why="an ended run takes no inputs",
            fix="start a new run, or fork or retry this one",
        )
    if run.state.rolling_back:
        raise Conflict("kernel.rolling_back", f"run {caller_id(run.id)} is undoing its work, and ends after that")


def must_be_at(base: int | None, run: Run) -> None:
    """Raises if a patch was made for another revision."""
    revision = run.state.revision
    if base not in (None, revision):
        raise Stale(
            "kernel.revision_stale",
            f"run {caller_id(run.id)} is at revision {revision}",
            why=f"the patch was made for revision {base}",
            fix=f"look at the run again, and patch revision {revision}",
        )


def can_be_cancelled(request: Cancel, run: Run) -> bool:
    """Cancelling is sticky: a run that has ended or is rolling back is not cancelled again. A parent's request to a run
    that is not its child is ignored: the child's id was taken."""
    if run.state.status != "running" or run.state.rolling_back:
        return False
    return request.parent is None or request.parent == run.info.parent


def withdraw(run: Run, unit: UnitOfWork) -> bool:
    """What took a run off its queue before it had a slot comes with its start: the run does nothing. One that was
    cancelled just after it got its slot is no different. False if nothing did."""
    for input, _ in run.mailbox:
        if type(input) is Cancel and can_be_cancelled(input, run):
            cancel(input, run, unit)
            return True
    return False


def cancel(request: Cancel, run: Run, unit: UnitOfWork) -> None:
    """Ends a run from outside, after its machine was told."""
    if not run.machine.finishes_cancelled_work:
        revoke_all(run, unit)
    if request.cause == "cancel" and not request.compensate:
        end(RunCancelled(request.reason), run, unit)
    elif request.error is not None and not (request.compensate or run.machine.compensates_failures):
        end(RunFailed(request.error), run, unit)
    else:
        roll_back(RollbackStarted(request.cause, request.error, request.reason), run, unit)


def compensate(run: Run, unit: UnitOfWork) -> None:
    """Compensates the work of an ended run, which then ends again as before."""
    if run.state.status == "running":
        raise Conflict("kernel.still_running", "the run is still running", fix="cancel it with compensate=True")
    reopen("compensate", run, unit)
    roll_back(RollbackStarted("request"), run, unit)


def reopen(cause: str, run: Run, unit: UnitOfWork) -> None:
    if run.state.status != "running":
        run.emit(RunReopened(cause), unit)
        run.reopened(unit.at)


def end(final: FinalEvent, run: Run, unit: UnitOfWork, *, clear: bool = True) -> None:
    run.emit(final, unit)
    run.ended(unit.at)
    unit.ended = True
    revoke_waiting(run, unit)  # they will not be retried; if the run is reopened, they start anew
    if clear:
        unit.clear_all(stored=run.has_rows)
    _tell_parent(final, run, unit)


def _tell_parent(final: FinalEvent, run: Run, unit: UnitOfWork) -> None:
    info = run.info
    if info.parent is not None and info.parent_token is not None:
        # Numbered, because a child that is reopened and ends again must be reported again
        unit.send(info.parent, f"~child:{run.id}:{run.state.seq}", _report(final, run, info.parent_token))


def _report(final: FinalEvent, run: Run, token: TaskToken) -> ChildFinished:
    match final:
        case RunCompleted():
            report = ChildFinished(token, run.id, "completed", final.output)
        case RunFailed():
            report = ChildFinished(token, run.id, "failed", error=final.error)
        case RunCancelled():
            report = ChildFinished(token, run.id, "cancelled", error=cancelled(final))
        case _:
            assert_never(final)
    if run.state.independent or not child_compensation.has_compensations(run):
        return report
    return replace(report, compensable=True, compensation_failed=child_compensation.has_failed(run))


# -- rolling back ------------------------------------------------------------------------------------------------------


def roll_back(started: RollbackStarted, run: Run, unit: UnitOfWork) -> None:
    """Compensates first, if there is anything to compensate; `started` gives the reason, and so how the run ends."""
    rollback = Rollback.begun(started, run.state.rollback)
    if rollback.next(child_compensation.compensations(run)) is None:
        end(rollback.outcome(run.state.final), run, unit)
        return
    child_compensation.note_stopped(run, unit)
    run.emit(started, unit)
    outlives = started.cause in ("failure", "request") or run.machine.finishes_cancelled_work
    late = run.machine.accepts_late_results and outlives
    if late:
        revoke_waiting(run, unit)  # work in flight continues, and is compensated once it is done
    else:
        revoke_all(run, unit)
    if not (late and started.cause == "request"):  # an ended run has only the timers of work that outlived it
        unit.clear_all(stored=run.has_rows)
    go_on(run, unit)


def go_on(run: Run, unit: UnitOfWork, *, again: bool = False) -> None:
    """Starts the next compensator, after a load perhaps `again`, or ends the run after the last."""
    rollback = run.state.rollback
    if rollback is None or rollback.over or rollback.asking is not None:
        return
    compensations = child_compensation.compensations(run)
    if any(task.token in run.state.tasks for task in compensations):
        return  # one at a time, also if late work adds to them
    stopped = bool(rollback.failed) and run.machine.stops_at_failed_compensation
    task = None if stopped else rollback.next(compensations)
    if run.blocked is not None or (task is not None and task.unbound is not None):
        run.block(None if task is None else task.unbound)
    if task is not None:
        if task.unbound is None:
            _start(task, run, unit, again=again)
        return
    run.emit(RollbackEnded("failed" if rollback.failed else "completed"), unit)
    # Timers were cleared when the rollback began; those of continuing work were set later
    end(rollback.outcome(run.state.final), run, unit, clear=not run.machine.accepts_late_results)


def _start(task: Task, run: Run, unit: UnitOfWork, *, again: bool) -> None:
    if task.kind == child_compensation.KIND:
        child_compensation.ask(task, run, unit)
    elif not again:
        open_task(task, run, unit)
    elif (interrupted := start_again(task, run, unit)) is not None:
        compensated(interrupted, run, unit)


def compensated(result: TaskResult, run: Run, unit: UnitOfWork, child: TaskToken = _NO_CHILD) -> None:
    """A compensator ended for good: a task, or a `child`."""
    status = "completed" if result.error is None else "failed"
    run.emit(RollbackStep(result.token, status, result.attempt, result.error, child), unit)
    go_on(run, unit)


def child_compensated(child: ChildFinished, run: Run, unit: UnitOfWork) -> bool:
    """A child ended; returns whether a rollback had asked it to compensate."""
    task = child_compensation.answered(child, run)
    if task is None:
        _child_ended(child, run, unit)
        return False
    error = child_compensation.incomplete(child)
    if error is not None:
        run.dead_letter(task, 1, error, unit)
    compensated(TaskResult(task.token, 1, error=error), run, unit, child=child.token)
    return True


def _child_ended(child: ChildFinished, run: Run, unit: UnitOfWork) -> None:
    """Records what a child leaves to compensate. It may report only after its parent has ended."""
    if not child.compensable:
        return
    child_compensation.note(child, run, unit)
    if _has_undone_all(run) and not child.compensation_failed:
        compensate(run, unit)
    elif run.state.final is not None and run.state.status != "running":
        _tell_parent(run.state.final, run, unit)


def _has_undone_all(run: Run) -> bool:
    """Whether the run has ended and compensated all the work it knew of by then."""
    rollback, status = run.state.rollback, run.state.status
    if status == "failed" and run.machine.compensates_failures:
        return True
    return status != "running" and rollback is not None and not (rollback.superseded or rollback.only)


def compensate_for_parent(request: CompensateChild, run: Run, unit: UnitOfWork) -> None:
    """An ended run compensates because its parent does, and then reports its end again."""
    rollback, info = run.state.rollback, run.info
    if info.parent != request.parent or info.parent_token is None or run.state.final is None:
        stranger = ChildFinished(request.token, run.id, "completed")
        child_compensation.answer_at_once(request, stranger, run, unit)
    elif not child_compensation.has_compensations(run):
        report = _report(run.state.final, run, info.parent_token)
        child_compensation.answer_at_once(request, report, run, unit)
    elif rollback is not None and rollback.failed:
        settle(rollback.failed[-1], "retried", run, unit)
    else:
        compensate(run, unit)


def is_compensator(token: TaskToken, run: Run) -> bool:
    return any(task.token == token for task in child_compensation.compensations(run))


def undo_late(run: Run, unit: UnitOfWork) -> None:
    """Compensates tasks that succeeded after their run had failed. The run does not wait for them, so it may have
    ended."""
    if not run.machine.accepts_late_results:
        return
    if run.state.rolling_back:
        go_on(run, unit)
    elif run.state.status == "failed":
        request = RollbackStarted("request")
        if Rollback.begun(request, run.state.rollback).next(child_compensation.compensations(run)) is not None:
            compensate(run, unit)


# -- compensators that failed for good ---------------------------------------------------------------------------------


def has_failed(token: TaskToken, run: Run) -> bool:
    """Whether this is a compensator that failed for good."""
    return run.state.rollback is not None and token in run.state.rollback.failed


def settle(token: TaskToken, verdict: Literal["retried", "discarded"], run: Run, unit: UnitOfWork) -> None:
    """Retries or discards a failed compensator on request; the rollback continues from there."""
    if not run.state.rolling_back:
        rollback = run.state.rollback
        ended_with_it = run.state.status == "failed" or (rollback is not None and not rollback.superseded)
        _reopen_for(token, run, unit, alone=not ended_with_it)
    run.emit(RollbackStep(token, verdict), unit)
    unit.settle([Settled(letter_id(run.id, token), verdict)])
    go_on(run, unit)


def compensate_again(token: TaskToken, run: Run, unit: UnitOfWork) -> None:
    """Retries a compensator that failed earlier in a run that continued and has ended since."""
    if not run.state.rolling_back:
        _reopen_for(token, run, unit, alone=run.state.status != "failed")
    run.emit(RollbackStep(token, "retried"), unit)
    go_on(run, unit)


def _reopen_for(token: TaskToken, run: Run, unit: UnitOfWork, *, alone: bool) -> None:
    """Reopens a run for this compensator. `alone`: the run's other work is kept."""
    reopen("compensate", run, unit)
    run.emit(RollbackStarted("request", only=[token] if alone else []), unit)


def retry_stopped(run: Run, unit: UnitOfWork) -> bool:
    """Continues a rollback that stopped at a compensator which failed or was missing; False if there is none."""
    rollback = run.state.rollback
    if rollback is None or not run.machine.stops_at_failed_compensation:
        return False
    if rollback.failed:
        settle(rollback.failed[-1], "retried", run, unit)
        return True
    if run.state.rolling_back and run.blocked is not None:
        go_on(run, unit)
        return True
    return False
