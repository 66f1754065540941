"""Decides what one input does to a run, in a unit of work.

The machine decides; the kernel does what is the same for all dialects. There is no I/O: the unit of work holds the
events and rows to commit, and the work to start once they are on disk.
"""

from __future__ import annotations

import logging
from typing import Any, assert_never

from msgspec import Raw

from . import approvals, child_compensation, lifecycle, notices, suspensions, values
from .apply_effects import apply, cancel_child
from .effects import CancelChild, Compensate, FailTask, Finish
from .errors import Conflict, ErrorInfo, PlaitError
from .events import RunPatched, RunStarted, TaskLate
from .failures import describe
from .ids import TaskToken
from .inputs import (
    AnyInput,
    AttemptFailed,
    Cancel,
    ChildFinished,
    ChildStarted,
    ClaimExpired,
    CompensateChild,
    Continue,
    Decided,
    Delegate,
    KeepEntry,
    Loaded,
    Message,
    Patch,
    Rejected,
    Resume,
    RetryDue,
    Start,
    Suspend,
    TaskResult,
    TimerFired,
)
from .journal import SUSPENDED
from .limits import exceeded
from .open_tasks import RETRY, open_task, revoke, try_again
from .recovery import expired, rejected, requeue, start_again
from .run import Run, letter_id
from .store import Settled
from .task import Task
from .tasks import Again, Final, Late
from .unit_of_work import UnitOfWork

log = logging.getLogger("plait.kernel")

DEADLINE = TaskToken("~deadline")


LATER = Raw(b"")
"""Stands for a reply that a later decision gives."""


def route(input: AnyInput, run: Run, unit: UnitOfWork) -> Raw | None:
    match input:
        case TimerFired():
            _timer(input, run, unit)
        case TaskResult():
            take_result(input, run, unit)
        case KeepEntry():
            return suspensions.keep(input, run, unit)
        case Suspend():
            suspensions.suspend(input, run, unit)
        case ClaimExpired():
            _claim_expired(input, run, unit)
        case Rejected():
            _given_up(rejected(input, run, unit), run, unit)
        case Start():
            start(input, run, unit)
        case Cancel():
            cancel(input, run, unit)
        case Resume():
            return _resume(input, run, unit)
        case Loaded():
            _take_up(input, run, unit)
        case Continue():
            _continue(run, unit)
        case Decided():
            lifecycle.must_run(run)
            return _vote(input, run, unit)
        case Delegate():
            lifecycle.must_run(run)
            approvals.delegate(input, run, unit)
        case Patch():
            return _patch(input, run, unit)
        case Message(purpose="query"):
            return _ask(input, run, unit)
        case Message():
            kept = run.machine.keeps_late_messages and not input.asks and run.state.status != "running"
            if not (kept or run.machine.accepts_late_results):
                lifecycle.must_run(run)
            return _hear(input, run, unit)
        case ChildFinished() if lifecycle.child_compensated(input, run, unit):
            pass
        case ChildStarted() | ChildFinished():
            # A child that outlives its parent is recorded in case the parent is reopened
            if suspensions.is_wait(input.token):
                if isinstance(input, ChildFinished):
                    suspensions.child_finished(input, run, unit)
            elif run.machine.accepts_late_results or not run.state.rolling_back:
                _hear(input, run, unit)
        case CompensateChild():
            _compensate_for_parent(input, run, unit)
        case _:
            assert_never(input)
    return None


# -- the machine -------------------------------------------------------------------------------------------------------


def _ask(input: Any, run: Run, unit: UnitOfWork) -> Raw | None:
    """Lets the machine decide, and adds the decision to the unit of work."""
    decision = run.machine.decide(input, unit.at)
    if decision.reopen is not None:
        lifecycle.reopen(decision.reopen, run, unit)
        unit.settle([Settled(letter_id(run.id, token), "retried") for token in decision.retried])
    events = decision.events
    run.state.seq += len(events)
    if unit.events:
        unit.events += events
    else:
        unit.events = events
    if type(input) is Patch and decision.refusal is None:  # before the effects: they may end the run
        run.emit(RunPatched(run.state.revision + 1, input.by), unit)
    if decision.more:
        unit.more = True
    if len(decision.effects) > run.limits.max_effects:
        unit.breach = exceeded("effects in one decision", len(decision.effects), run.limits.max_effects)
        return decision.reply
    for effect in decision.effects:
        if type(effect) is Task:  # by far the most common
            open_task(effect, run, unit)
        elif type(effect) is Finish:
            if len(decision.effects) > 1:  # a single effect cancels no child
                unit.stopped = child_compensation.stopped(input, decision)
            lifecycle.finish(effect, run, unit)
        elif type(effect) is CancelChild:
            unit.stopped = child_compensation.stopped(input, decision)
            cancel_child(effect, run, unit, compensate=effect.run_id in unit.stopped)
        elif type(effect) is FailTask:
            _fail_task(effect, run, unit)
        elif type(effect) is Compensate:
            lifecycle.compensate_again(effect.token, run, unit)
        else:
            apply(effect, run, unit)
    if decision.refusal is not None:
        raise decision.refusal
    return LATER if decision.replies_later else decision.reply


def _hear(input: AnyInput, run: Run, unit: UnitOfWork) -> Raw | None:
    answer = _ask(input, run, unit)
    lifecycle.undo_late(run, unit)
    return answer


def _vote(cast: Decided, run: Run, unit: UnitOfWork) -> Raw | None:
    before, counted = unit.write.approvals, cast.token in run.state.approvals
    decided = approvals.vote(cast, run, unit)
    if decided is None:
        return None
    try:
        if suspensions.is_wait(decided.token):
            suspensions.decided(decided, run, unit)
            return None
        return _hear(decided, run, unit)
    except PlaitError:
        if not counted:  # the machine does not wait for it, so it was not open
            unit.write.approvals = before
        raise


def _patch(patch: Patch, run: Run, unit: UnitOfWork) -> Raw:
    """Applies a patch; replies with the new revision."""
    lifecycle.must_run(run)
    lifecycle.must_be_at(patch.base, run)
    _hear(patch, run, unit)
    return values.encode(run.state.revision)


def _compensate_for_parent(request: CompensateChild, run: Run, unit: UnitOfWork) -> None:
    if run.info.parent == request.parent and run.state.status == "running":
        cancel(Cancel("its parent is compensated", compensate=True, parent=request.parent), run, unit)
    else:
        lifecycle.compensate_for_parent(request, run, unit)


# -- start and end -----------------------------------------------------------------------------------------------------


def start(start: Start, run: Run, unit: UnitOfWork) -> None:
    if run.state.started or run.state.status != "running":
        return
    event = RunStarted(
        dialect=start.dialect,
        definition=start.definition,
        input=start.input,
        version=start.version,
        seed=start.seed,
        parent=run.info.parent,
        deadline=start.deadline,
        labels=start.labels,
        data=start.data,
        independent=start.independent,
        by=start.by,
        reference=start.reference,
        queue=start.queue,
        priority=start.priority,
        partition=start.partition,
    )
    run.emit(event, unit)
    if start.deadline is not None:
        unit.set_timer(DEADLINE, start.deadline)
    if start.announces and run.info.parent is not None and run.info.parent_token is not None:
        unit.send(run.info.parent, f"~child:{run.id}:started", ChildStarted(run.info.parent_token, run.id))
    try:
        if not (start.queue and lifecycle.withdraw(run, unit)):
            _ask(start, run, unit)
    except PlaitError as refusal:  # it is recorded as started, so it must also be seen to end
        lifecycle.finish(Finish("failed", error=describe(refusal)), run, unit)


def cancel(request: Cancel, run: Run, unit: UnitOfWork) -> None:
    if not lifecycle.can_be_cancelled(request, run):
        return
    try:
        _ask(request, run, unit)
    except PlaitError:
        raise
    except Exception:
        log.exception("the machine of run %s failed when it was cancelled; it ends all the same", run.id)
    if lifecycle.can_be_cancelled(request, run):  # otherwise its machine has already ended it
        lifecycle.cancel(request, run, unit)


def _resume(resume: Resume, run: Run, unit: UnitOfWork) -> Raw | None:
    match resume.mode:
        case "settle":
            _settle_letter(resume, run, unit)
        case "compensate":
            lifecycle.compensate(run, unit)
        case "retry" | "rewind":
            if not lifecycle.retry_stopped(run, unit):
                if run.state.rolling_back:
                    lifecycle.must_run(run)
                return _ask(resume, run, unit)
        case "requeue":
            lifecycle.must_run(run)
            requeue(resume.token, run, unit)
        case "continue":
            _take_up(Loaded("fork"), run, unit)
        case _:
            assert_never(resume.mode)
    return None


def _settle_letter(resume: Resume, run: Run, unit: UnitOfWork) -> None:
    """Retries or discards a dead letter on request."""
    if resume.token is None or resume.verdict is None:
        raise Conflict("kernel.bad_resume", "a dead letter is settled by its token and a verdict")
    verdict = "retried" if resume.verdict == "retry" else "discarded"
    if notices.is_notice(resume.token):
        notices.settle(resume.token, verdict, run, unit)
        return
    if lifecycle.has_failed(resume.token, run):
        lifecycle.settle(resume.token, verdict, run, unit)
        return
    _ask(resume, run, unit)
    unit.settle([Settled(letter_id(run.id, resume.token), verdict)])


# -- going on ----------------------------------------------------------------------------------------------------------


def _continue(run: Run, unit: UnitOfWork) -> None:
    """Asks the machine to continue, unless an earlier input of this unit of work said `more` again: that is asked after
    the commit."""
    if not unit.more and run.state.started and run.state.status == "running" and not run.state.rolling_back:
        _ask(Continue(), run, unit)


def _take_up(loaded: Loaded, run: Run, unit: UnitOfWork) -> None:
    """After a load: restarts what should be in flight."""
    state = run.state
    if not state.started:
        return
    if state.status != "running" or state.rolling_back:
        if run.machine.accepts_late_results:
            _ask(loaded, run, unit)
        lifecycle.go_on(run, unit, again=True)
        return
    if loaded.how == "fork":
        state.tasks.enqueue_again()
        notices.repeat(run, unit)
    known, run.blocked = run.blocked, None  # the block may be gone; otherwise the machine reports it again
    _ask(loaded, run, unit)
    if run.blocked != known:
        run.row_is_stale()
    for effect in run.machine.pending(unit.at, recovered=loaded.how == "recover"):
        if not isinstance(effect, Task):
            apply(effect, run, unit)
        elif (interrupted := start_again(effect, run, unit)) is not None:
            _ask(interrupted, run, unit)
        elif state.tasks.is_due(effect.token, unit.at):
            # Not by its timer: that would fire when the run is parked, and wake it only to set the timers of the others
            unit.clear_timer(TaskToken(RETRY + effect.token))
            _retry(effect.token, run, unit)
    if loaded.how == "fork":
        suspensions.ask_again(run, unit)
    if state.notices:
        notices.send_again(run, unit)
    if run.blocked is None:
        state.tasks.forget_past()


# -- tasks -------------------------------------------------------------------------------------------------------------


def take_result(result: TaskResult, run: Run, unit: UnitOfWork) -> None:
    state = run.state
    if result.error is None and state.rollback is None and state.status == "running":  # by far the most common
        if not state.tasks.completes(result):
            _late(result, run, unit)
        elif state.notices:
            _heed(result, run, unit)
        else:
            _ask(result, run, unit)
        return
    undoing = state.rolling_back
    if state.status != "running" or (undoing and not lifecycle.is_compensator(result.token, run)):
        _outlived(result, run, unit)
        return
    verdict = state.tasks.judge(result, unit.at, run.ids)
    match verdict:
        case Final() if result.error is None and not undoing:
            _heed(result, run, unit)
        case Final():
            _settle(verdict, run, unit)
        case Again():
            run.emit(verdict.event, unit)
            unit.set_timer(TaskToken(RETRY + result.token), verdict.event.due)
            if run.machine.gates_retries and not notices.is_notice(result.token):
                _ask(AttemptFailed(result.token), run, unit)
        case Late():
            _late(result, run, unit)
        case _:
            assert_never(verdict)


def _outlived(result: TaskResult, run: Run, unit: UnitOfWork) -> None:
    """Takes the result of a task that outlived its run's outcome: it is not retried."""
    tasks = run.state.tasks
    heard = run.machine.accepts_late_results and tasks.is_in(result.token, result.attempt, result.opening)
    tasks.close(result.token)
    if heard:
        _hear(result, run, unit)
    else:
        _late(result, run, unit)


def _claim_expired(claim: ClaimExpired, run: Run, unit: UnitOfWork) -> None:
    state = run.state
    if state.status != "running" or (state.rolling_back and not lifecycle.is_compensator(claim.token, run)):
        revoke(claim.token, run, unit)  # it outlived the run's outcome, and is not retried
        return
    _given_up(expired(claim, run, unit), run, unit)


def _given_up(result: TaskResult | None, run: Run, unit: UnitOfWork) -> None:
    """Handles the failure of an attempt that did not end by itself; if its task is closed, the machine hears at
    once."""
    if result is not None and result.token in run.state.tasks:
        take_result(result, run, unit)
    elif result is not None and run.state.rolling_back:
        lifecycle.compensated(result, run, unit)
    elif result is not None:
        _heed(result, run, unit)


def _heed(result: TaskResult, run: Run, unit: UnitOfWork) -> None:
    """Passes a task's end to the machine, or to the kernel if the task is its own."""
    if run.state.notices and notices.is_notice(result.token):
        notices.ended(result, run, unit)
    else:
        _ask(result, run, unit)


def _settle(verdict: Final, run: Run, unit: UnitOfWork) -> None:
    """Handles a task that failed for good, or a compensator that ended."""
    result = verdict.result
    own = notices.is_notice(result.token)
    exhausted = own or (verdict.exhausted and not run.machine.adds_dead_letters)
    if result.error is not None and (exhausted or lifecycle.is_compensator(result.token, run)):
        run.dead_letter(verdict.task, result.attempt, result.error, unit)
    if run.state.rolling_back:
        lifecycle.compensated(result, run, unit)
    else:
        _heed(result, run, unit)


def _fail_task(failed: FailTask, run: Run, unit: UnitOfWork) -> None:
    run.state.tasks.take_back(failed.task, failed.attempt)
    take_result(TaskResult(failed.task.token, failed.attempt, error=failed.error), run, unit)


def _late(result: TaskResult, run: Run, unit: UnitOfWork) -> None:
    if result.later:  # the result overtook the notice that it would come later
        return
    run.emit(TaskLate(result.token, result.attempt, result.output or values.NULL, result.error), unit)


# -- timers ------------------------------------------------------------------------------------------------------------


def _timer(fired: TimerFired, run: Run, unit: UnitOfWork) -> None:
    if run.timer_was_moved(fired, unit):
        return
    token, late = fired.token, run.machine.accepts_late_results
    unit.clear_timer(token)
    if run.state.status != "running":
        if late and not token.startswith((DEADLINE, RETRY, approvals.ESCALATE, SUSPENDED)):
            _hear(fired, run, unit)
    elif token == DEADLINE:
        error = ErrorInfo("DEADLINE_EXCEEDED", "the run's deadline passed", kind="deadline")
        cancel(Cancel(cause="deadline", error=error), run, unit)
    elif token.startswith(RETRY):
        _retry(TaskToken(token[len(RETRY) :]), run, unit)
    elif token.startswith(approvals.ESCALATE):
        approvals.escalate(TaskToken(token[len(approvals.ESCALATE) :]), run, unit)
    elif suspensions.is_wait(token):
        suspensions.timer_fired(token, run, unit)
    elif late or not run.state.rolling_back:
        _hear(fired, run, unit)


def _retry(token: TaskToken, run: Run, unit: UnitOfWork) -> None:
    waiting = run.state.tasks.get(token)
    due = waiting is not None and waiting.retry_at is not None
    if run.machine.gates_retries and not run.state.rolling_back and due and not notices.is_notice(token):
        _ask(RetryDue(token), run, unit)
    else:
        try_again(token, run, unit)
