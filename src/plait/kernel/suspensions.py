"""Journal entries and suspended attempts: requests what an attempt waits for, and starts the same attempt again once
that has come. The run's machine sees none of this."""

from __future__ import annotations

from typing import Any, assert_never

from msgspec import Raw

from . import values
from .apply_effects import apply, cancel_child
from .effects import CancelChild, ClearTimer, RequestApproval, SetTimer, StartChild, WithdrawApproval
from .enqueue import begin, dequeue
from .errors import Conflict
from .events import TaskJournaled, TaskSuspended
from .ids import TaskToken
from .inputs import ChildFinished, Decided, KeepEntry, Suspend
from .journal import SUSPENDED, ApprovalWait, ChildWait, Journal, TimeWait, child_of
from .run import Run
from .unit_of_work import KeptEntry, UnitOfWork


def is_wait(token: TaskToken) -> bool:
    return token.startswith(SUSPENDED)


def keep(wanted: KeepEntry, run: Run, unit: UnitOfWork) -> Raw:
    """Adds a journal entry; replies with the number of entries. Refused if the attempt is over or behind."""
    tasks = run.state.tasks
    journal = tasks.journal(wanted.token)
    refusal, known = None, len(journal.entries) if journal is not None else 0
    if wanted.token not in tasks or not tasks.is_in(wanted.token, wanted.attempt, wanted.opening):
        refusal = Conflict(
            "task.settled", "this attempt is over", why="its task was settled, revoked or given to another"
        )
    elif wanted.index != known:
        refusal = Conflict("task.stale_entry", f"the journal has {known} entries", why=f"this is number {wanted.index}")
    if not wanted.opening:
        kept = KeptEntry(wanted.token, wanted.attempt, wanted.index, refusal)
        unit.kept = [kept] if unit.kept is None else [*unit.kept, kept]
    if refusal is not None:
        raise refusal
    run.emit(TaskJournaled(wanted.token, wanted.attempt, wanted.index, wanted.entry, wanted.says), unit)
    for event in wanted.events:
        run.emit(event, unit)
    return values.encode(known + 1)


def suspend(wanted: Suspend, run: Run, unit: UnitOfWork) -> None:
    tasks = run.state.tasks
    if wanted.token not in tasks or not tasks.is_in(wanted.token, wanted.attempt, wanted.opening):
        return  # the task is no longer open
    dequeue(wanted.token, run, unit)
    run.emit(TaskSuspended(wanted.token, wanted.attempt, wanted.wait, wanted.says), unit)
    if (journal := tasks.journal(wanted.token)) is not None:
        _ask(journal, run, unit)


def ask_again(run: Run, unit: UnitOfWork) -> None:
    """Repeats the requests of suspended attempts in a fork, because the earlier ones belong to the other run."""
    for journal in run.state.tasks.journals():
        if journal.token in run.state.tasks:
            _ask(journal, run, unit)


def _ask(journal: Journal, run: Run, unit: UnitOfWork) -> None:
    token, wait = journal.wait_token, journal.wait
    match wait:
        case ApprovalWait():
            request = RequestApproval(
                token,
                wait.title,
                deadline=wait.due,
                form=wait.form,
                evidence=wait.evidence,
                required=wait.required,
                approvers=wait.approvers,
            )
            apply(request, run, unit)
            if wait.due is not None:
                apply(SetTimer(token, wait.due), run, unit)
        case ChildWait():
            child = child_of(run.id, token)
            apply(StartChild(token, child, wait.dialect, wait.definition, wait.input), run, unit)
        case TimeWait():
            apply(SetTimer(token, wait.due), run, unit)
        case None:
            pass
        case _:
            assert_never(wait)


# -- what came ---------------------------------------------------------------------------------------------------------


def decided(decision: Decided, run: Run, unit: UnitOfWork) -> None:
    if _waiting(decision.token, run) is None:
        raise Conflict("kernel.approval_decided", "this approval is closed", why="nobody waits for it any more")
    answer = {
        "decision": decision.decision,
        "by": decision.by,
        "comment": decision.comment,
        "data": decision.data,
    }
    apply(ClearTimer(decision.token), run, unit)
    _go_on(decision.token, answer, run, unit)


def child_finished(child: ChildFinished, run: Run, unit: UnitOfWork) -> None:
    answer = {"status": child.status, "run_id": child.run_id, "output": child.output, "error": child.error}
    _go_on(child.token, answer, run, unit)


def timer_fired(token: TaskToken, run: Run, unit: UnitOfWork) -> None:
    journal = _waiting(token, run)
    if journal is not None and isinstance(journal.wait, ApprovalWait):
        apply(WithdrawApproval(token, "expired"), run, unit)
        _go_on(token, {"decision": "timeout"}, run, unit)
    else:
        _go_on(token, {"at": unit.at}, run, unit)


def _waiting(token: TaskToken, run: Run) -> Journal | None:
    """The journal of the attempt that waits for this token; None if there is none."""
    task = TaskToken(token.removeprefix(SUSPENDED).rpartition(":")[0])
    found = run.state.tasks.get(task)
    journal = None if found is None else found.journal
    return journal if journal is not None and journal.wait is not None and journal.wait_token == token else None


def _go_on(token: TaskToken, answer: Any, run: Run, unit: UnitOfWork) -> None:
    journal = _waiting(token, run)
    found = None if journal is None else run.state.tasks.get(journal.token)
    if journal is None or found is None or run.state.status != "running":
        return
    entry = Raw(values.plain(answer))
    run.emit(TaskJournaled(journal.token, journal.attempt, len(journal.entries), entry), unit)
    begin(found, run, unit)


# -- what is not wanted any more ---------------------------------------------------------------------------------------


def forget_abandoned(run: Run, unit: UnitOfWork) -> None:
    """Withdraws what revoked tasks were waiting for."""
    abandoned, run.state.tasks.abandoned = run.state.tasks.abandoned, []
    for journal in abandoned:
        token, wait = journal.wait_token, journal.wait
        match wait:
            case ApprovalWait():
                apply(ClearTimer(token), run, unit)
                if run.state.status == "running":  # else all of its approvals are withdrawn
                    apply(WithdrawApproval(token), run, unit)
            case ChildWait():
                undoes = run.state.rollback is not None and not run.state.rollback.superseded
                cancel_child(CancelChild(child_of(run.id, token)), run, unit, compensate=undoes)
            case TimeWait():
                apply(ClearTimer(token), run, unit)
            case None:
                pass
            case _:
                assert_never(wait)
