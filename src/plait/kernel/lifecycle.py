"""How a run ends: at once, or after what it did has been undone; and how an ended run is taken up again."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, assert_never

from . import apply_effects, recovery
from .effects import Finish
from .errors import Conflict, ErrorInfo, PlaitError
from .events import (
    RollbackEnded,
    RollbackStarted,
    RollbackStep,
    RunCancelled,
    RunCompleted,
    RunFailed,
    RunReopened,
)
from .ids import TaskToken
from .inputs import Cancel, ChildFinished, Resume, TaskResult
from .rollback import FinalEvent, Rollback
from .store import Settled
from .unit_of_work import UnitOfWork

if TYPE_CHECKING:
    from .run import Run

log = logging.getLogger("plait.kernel")


def finish(effect: Finish, run: Run, draft: UnitOfWork) -> None:
    """The machine says that the run is over."""
    if effect.status == "completed":
        end(RunCompleted(effect.output), run, draft)
        return
    error = effect.error or ErrorInfo("kernel.failed", "the run failed")
    roll_back(RollbackStarted("failure", error, data=effect.data), run, draft)


def cancel(request: Cancel, run: Run, draft: UnitOfWork) -> None:
    """Ends a run from outside. Sticky: a run that has ended, or undoes its work, is not cancelled again."""
    if run.state.status != "running" or run.state.rolling_back:
        return
    if request.parent is not None and request.parent != run.info.parent:
        return  # the id was taken: it is not that run's child
    try:
        run.ask(request, draft)
    except PlaitError:
        raise
    except Exception:
        log.exception("the machine of run %s failed when it was cancelled; it ends all the same", run.id)
    _revoke_all(run, draft)
    if request.cause == "cancel" and not request.compensate:
        end(RunCancelled(request.reason), run, draft)
    else:
        roll_back(RollbackStarted(request.cause, request.error, request.reason), run, draft)


def compensate(run: Run, draft: UnitOfWork) -> None:
    """Undoes the work of a run that has ended; it then ends again as it had."""
    if run.state.status == "running":
        raise Conflict("kernel.still_running", "the run is still running", fix="cancel it with compensate=True")
    reopen("compensate", run, draft)
    roll_back(RollbackStarted("request"), run, draft)


def reopen(cause: str, run: Run, draft: UnitOfWork) -> None:
    if run.state.status != "running":
        run.emit(RunReopened(cause), draft)
        run.row_is_stale()


def roll_back(started: RollbackStarted, run: Run, draft: UnitOfWork) -> None:
    """Undo first, if there is anything to undo; `started` says why, and how the run ends."""
    rollback = Rollback.begun(started, run.state.rollback)
    accepts_late_results = run.machine.accepts_late_results and started.cause in ("failure", "request")
    if rollback.next(run.machine.compensations()) is None:
        end(rollback.outcome(run.state.final), run, draft)
        return
    run.emit(started, draft)
    if accepts_late_results:
        _revoke_waiting(run, draft)  # what is under way goes on; what it does is undone when it has
    else:
        _revoke_all(run, draft)
    if not (
        accepts_late_results and started.cause == "request"
    ):  # what had ended has only the timers of what outlived it
        draft.clear_all(stored=run.has_rows)
    go_on(run, draft)


def go_on(run: Run, draft: UnitOfWork, *, again: bool = False) -> None:
    """Starts the next compensator, perhaps `again` after a load, or ends the run after the last."""
    rollback = run.state.rollback
    if rollback is None or rollback.stuck is not None or rollback.over:
        return
    compensations = run.machine.compensations()
    if any(task.token in run.state.tasks for task in compensations):
        return  # one at a time, also when work that ends late adds to them
    task = rollback.next(compensations)
    if run.blocked is not None or (task is not None and task.unbound is not None):
        run.block(None if task is None else task.unbound)
    if task is not None:
        if task.unbound is None and again:
            recovery.start_again(task, run, draft)
        elif task.unbound is None:
            apply_effects.apply([task], run, draft)
        return
    run.emit(RollbackEnded("completed"), draft)
    # Timers were cleared when the rollback began; those of work that goes on were set after that
    end(rollback.outcome(run.state.final), run, draft, clear=not run.machine.accepts_late_results)


def undone(result: TaskResult, run: Run, draft: UnitOfWork) -> None:
    """A compensator ended for good."""
    status = "completed" if result.error is None else "failed"
    run.emit(RollbackStep(result.token, status, result.attempt, result.error), draft)
    go_on(run, draft)


def undoes(token: TaskToken, run: Run) -> bool:
    """Whether this is a compensator."""
    return any(task.token == token for task in run.machine.compensations())


def outlived(result: TaskResult, run: Run, draft: UnitOfWork) -> None:
    """Work that was under way at the run's outcome has ended: it is not tried again."""
    run.state.tasks.close(result.token)
    run.ask(result, draft)
    undo_late(run, draft)


def undo_late(run: Run, draft: UnitOfWork) -> None:
    """What succeeded when its run had failed is undone too. The run does not wait for it, so it may have ended."""
    if not run.machine.accepts_late_results:
        return
    if run.state.rolling_back:
        go_on(run, draft)
    elif run.state.status == "failed":
        request = RollbackStarted("request")
        if Rollback.begun(request, run.state.rollback).next(run.machine.compensations()) is not None:
            compensate(run, draft)


def settle(resume: Resume, run: Run, draft: UnitOfWork) -> None:
    """A person retries or discards a dead letter."""
    if resume.token is None or resume.verdict is None:
        raise Conflict("kernel.bad_resume", "a dead letter is settled by its token and a verdict")
    if not _is_stuck(run, resume.token):
        run.ask(resume, draft)
    elif resume.verdict == "retry":
        retry_stuck(run, draft)
        return
    else:
        run.emit(RollbackStep(resume.token, "discarded"), draft)
        go_on(run, draft)
    status = "retried" if resume.verdict == "retry" else "discarded"
    draft.settle([Settled(apply_effects.letter_id(run, resume.token), status)])


def retry_stuck(run: Run, draft: UnitOfWork) -> bool:
    """Tries the compensator again at which a rollback stopped, or that was not to be found; False if none did."""
    rollback = run.state.rollback
    if not run.state.rolling_back or rollback is None:
        return False
    stuck = rollback.stuck
    if stuck is None:
        if run.blocked is None:
            return False
        go_on(run, draft)
        return True
    run.emit(RollbackStep(stuck, "retried"), draft)
    draft.settle([Settled(apply_effects.letter_id(run, stuck), "retried")])
    go_on(run, draft)
    return True


def end(final: FinalEvent, run: Run, draft: UnitOfWork, *, clear: bool = True) -> None:
    run.emit(final, draft)
    run.ended(draft.at)
    draft.ended = True
    if clear:
        draft.clear_all(stored=run.has_rows)
    info = run.info
    if info.parent is not None and info.parent_token is not None:
        # Numbered, because a child that is reopened and ends again must be heard again
        draft.send(info.parent, f"~child:{run.id}:{run.state.seq}", _report(final, run, info.parent_token))


def _revoke_all(run: Run, draft: UnitOfWork) -> None:
    for token in list(run.state.tasks):
        apply_effects.revoke(token, run, draft)


def _revoke_waiting(run: Run, draft: UnitOfWork) -> None:
    for token in list(run.state.tasks):
        if (task := run.state.tasks.get(token)) is not None and task.retry_at is not None:
            apply_effects.revoke(token, run, draft)


def _is_stuck(run: Run, token: TaskToken) -> bool:
    return run.state.rolling_back and run.state.rollback is not None and run.state.rollback.stuck == token


def _report(final: FinalEvent, run: Run, token: TaskToken) -> ChildFinished:
    match final:
        case RunCompleted():
            return ChildFinished(token, run.id, "completed", final.output)
        case RunFailed():
            return ChildFinished(token, run.id, "failed", error=final.error)
        case RunCancelled():
            return ChildFinished(token, run.id, "cancelled", error=cancelled(final))
        case _:
            assert_never(final)


def cancelled(final: RunCancelled) -> ErrorInfo:
    return ErrorInfo("kernel.cancelled", final.reason or "cancelled", kind="cancelled")
