"""Turns the effects of a decision into rows of the write, and into work to start after the commit.

Three effects change the run's own lifecycle and are handled elsewhere: `Finish`, `FailTask`, `Compensate`.
"""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from . import approvals, values
from .bundle import Resolved
from .effects import (
    AddDeadLetter,
    Answer,
    AwaitResult,
    Block,
    CancelChild,
    CancelTask,
    ClearTimer,
    Compensate,
    Effect,
    FailTask,
    Finish,
    RequestApproval,
    Resolution,
    RetryTask,
    SendMessage,
    SetTimer,
    StartChild,
    WithdrawApproval,
)
from .errors import ErrorInfo
from .failures import describe
from .ids import RunId, TaskToken, caller_id, shard_of
from .inputs import Cancel, ChildFinished, ChildStarted, Message
from .open_tasks import open_task, revoke, try_again
from .queue_options import partition_of, priority_of
from .replies import answer_reply, refusal_reply
from .run import Run, letter_id
from .run_queues import QueuedRun, waiting_on
from .store import SUBJECT, ChildPlace, DeadLetter, InboxRow, NewChild, RunRow, Taken, own_subject, refusal_key
from .task import Task
from .unit_of_work import UnitOfWork


def apply(effect: Effect, run: Run, unit: UnitOfWork) -> None:
    match effect:
        case Task():
            open_task(effect, run, unit)
        case CancelTask():
            revoke(effect.token, run, unit)
        case RetryTask():
            try_again(effect.token, run, unit)
        case AwaitResult():
            run.state.tasks.await_result(effect.task, effect.attempt)
        case AddDeadLetter():
            run.add_dead_letter(effect.token, effect.label, effect.attempts, effect.error, unit)
        case SetTimer():
            unit.set_timer(effect.token, effect.due)
        case ClearTimer():
            unit.clear_timer(effect.token)
        case StartChild():
            _start_child(effect, run, unit)
        case CancelChild():
            cancel_child(effect, run, unit)
        case SendMessage():
            _send(effect, run, unit)
        case RequestApproval():
            approvals.request(effect, run, unit)
        case WithdrawApproval():
            approvals.withdraw(effect, run, unit)
        case Answer():
            refusal = effect.refusal
            unit.take(Taken(effect.key, answer_reply(effect.body) if refusal is None else refusal_reply(refusal)))
        case Block():
            run.block(effect.error)
        case Finish() | FailTask() | Compensate():
            raise AssertionError(f"{type(effect).__name__} is for whoever asked the machine")
        case _:
            assert_never(effect)


# -- messages ---------------------------------------------------------------------------------------------------------


def _send(effect: SendMessage, run: Run, unit: UnitOfWork) -> None:
    error = ErrorInfo("kernel.undeliverable", f"run {caller_id(effect.run_id)} is unknown or has ended")
    token = TaskToken(effect.key)
    label = f"message {effect.name}"
    letter = DeadLetter(letter_id(run.id, token), run.id, run.info.namespace, token, label, 1, error, unit.at)
    message = Message(f"{run.id}:{effect.key}", effect.name, effect.body, unit.at)
    unit.send(effect.run_id, f"~sent:{message.id}", message, letter)


# -- children ----------------------------------------------------------------------------------------------------------


def _start_child(child: StartChild, run: Run, unit: UnitOfWork) -> None:
    known = child.resolved
    if known is None or child.queueing is not None:
        unit.unresolved = [*(unit.unresolved or ()), child]
        return
    add_child(child, known_child(child, known), run, unit)


def known_child(child: StartChild, known: Resolution) -> Resolved:
    return Resolved(known.definition, known.version, child.input, known.data)


def add_child(
    child: StartChild, resolved: Resolved, run: Run, unit: UnitOfWork, place: QueuedRun | None = None
) -> None:
    """Creates the child in its parent's commit. The child's values belong to the parent's data subject, unless it names
    its own."""
    shard, dialect = shard_of(child.run_id), resolved.dialect or child.dialect
    subject = run.info.labels.get(SUBJECT)
    labels = child.labels if subject is None else {SUBJECT: subject, **child.labels}
    if resolved.pii_fields:
        labels = {SUBJECT: own_subject(child.run_id), **labels}
    row = RunRow(
        id=child.run_id,
        namespace=run.info.namespace,
        dialect=dialect,
        definition=resolved.definition,
        version=resolved.version,
        shard=shard,
        parent=run.id,
        parent_token=child.token,
        depth=run.info.depth + 1,
        labels=labels,
        created_at=unit.at,
        deadline=child.deadline,
        awake=place is None,
        waiting=None if place is None else waiting_on(place.queue),
    )
    start = resolved.start(
        dialect,
        run.ids.seed(),
        child.deadline,
        labels,
        announces=child.announces and place is None,
        independent=child.independent,
    )
    if child.queueing is not None:
        queue, given = "" if place is None else place.queue, child.queueing
        start = replace(start, queue=queue, priority=priority_of(given), partition=partition_of(given))
    taken = ErrorInfo(
        "kernel.run_exists",
        f"run {caller_id(child.run_id)} exists already: a child needs an id of its own",
        kind="conflict",
    )
    new = NewChild(
        row,
        InboxRow(child.run_id, shard, "~start", values.plain(start), unit.at),
        _refusal(child, taken, run, unit),
        None if place is None else _on_queue(child, place, run, unit),
    )
    unit.add_child(new)


def cancel_child(effect: CancelChild, run: Run, unit: UnitOfWork, *, compensate: bool = False) -> None:
    # Numbered, because a child that was reopened may have to be cancelled again
    cancel = Cancel(effect.reason, compensate, parent=run.id)
    key = f"~cancel:{run.id}:{run.state.seq}"
    unit.post(InboxRow(effect.run_id, shard_of(effect.run_id), key, values.plain(cancel), unit.at, withdraws=True))


def refuse_child(child: StartChild, error: Exception, run: Run, unit: UnitOfWork) -> None:
    """Reports to the parent that its child could not be resolved, as the child's failure."""
    unit.post(_refusal(child, describe(error), run, unit))


def _refusal(child: StartChild, error: ErrorInfo, run: Run, unit: UnitOfWork) -> InboxRow:
    refusal = ChildFinished(child.token, child.run_id, "refused", error=error)
    # Numbered, because the same child may be refused again after a retry, and several children may ask for one id
    key = f"{refusal_key(child.run_id)}{run.state.seq}:{child.token}"
    return InboxRow(run.id, run.shard, key, values.plain(refusal), unit.at)


def _on_queue(child: StartChild, place: QueuedRun, run: Run, unit: UnitOfWork) -> ChildPlace:
    taken = ErrorInfo(
        "queue.duplicate",
        f"a run on queue `{place.queue}` has the dedup id {place.dedup_id!r}, and waits or runs",
        kind="conflict",
    )
    announcement = None
    if child.announces:  # says that the run exists, not that it has a slot
        body = values.plain(ChildStarted(child.token, child.run_id))
        announcement = InboxRow(run.id, run.shard, f"~child:{child.run_id}:started", body, unit.at)
    return ChildPlace(place, _refusal(child, taken, run, unit), announcement)


def drop_children(unit: UnitOfWork) -> frozenset[RunId]:
    """Removes the children that a limit forbids; returns their ids."""
    dropped = {child.row.id for child in unit.write.children} | {child.run_id for child in unit.unresolved or ()}
    unit.write.children, unit.unresolved = (), None
    return frozenset(dropped)
