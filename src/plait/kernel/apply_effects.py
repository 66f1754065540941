"""What the effects of a decision come to: rows in the write, and work to start after the commit."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from . import lifecycle, values
from .effects import (
    AskHuman,
    Block,
    CancelChild,
    CancelTask,
    ClearTimer,
    Effect,
    FailTask,
    Finish,
    RetryTask,
    SendMessage,
    SetTimer,
    StartChild,
    WithdrawQuestion,
)
from .errors import ErrorInfo
from .ids import TaskToken, caller_id, shard_of
from .inputs import Cancel, ChildFinished, Message, Start
from .store import DeadLetter, InboxRow, NewChild, Question, RunRow
from .task import Task
from .unit_of_work import UnitOfWork

if TYPE_CHECKING:
    from .run import Run

RETRY = "~retry:"


def apply(effects: list[Effect], run: Run, draft: UnitOfWork) -> None:
    for effect in effects:
        if type(effect) is Task:  # by far the most common
            attempt = run.state.tasks.open(effect, draft.at)
            if attempt is not None:
                draft.tasks.append((effect, attempt))
        else:
            _apply(effect, run, draft)


def _apply(effect: Effect, run: Run, draft: UnitOfWork) -> None:
    match effect:
        case Finish():
            lifecycle.finish(effect, run, draft)
        case CancelTask():
            revoke(effect.token, run, draft)
        case FailTask():
            run.fail_task(effect, draft)
        case RetryTask():
            run.try_again(effect.token, draft)
        case SetTimer():
            draft.set_timer(effect.token, effect.due)
        case ClearTimer():
            draft.clear_timer(effect.token)
        case StartChild():
            draft.children = [*(draft.children or ()), _child(effect, run, draft)]
        case CancelChild():
            # Numbered, because a child that was reopened may have to be cancelled again
            draft.send(effect.run_id, f"~cancel:{run.id}:{run.state.seq}", Cancel(effect.reason, parent=run.id))
        case SendMessage():
            _send(effect, run, draft)
        case AskHuman():
            draft.questions = [*(draft.questions or ()), _question(effect, run, draft)]
        case WithdrawQuestion():
            draft.answered = [*(draft.answered or ()), effect.token]
        case Block():
            run.block(effect.error)
        case Task():
            raise AssertionError("tasks are opened by apply()")
        case _:
            assert_never(effect)


def revoke(token: TaskToken, run: Run, draft: UnitOfWork) -> None:
    """Stops a task whose result is not wanted any more."""
    if run.state.tasks.close(token):
        draft.revoked = [*(draft.revoked or ()), token]
        draft.clear_timer(TaskToken(RETRY + token))


def letter_id(run: Run, token: TaskToken) -> str:
    return f"{run.id}:{token}"


def _question(effect: AskHuman, run: Run, draft: UnitOfWork) -> Question:
    return Question(
        letter_id(run, effect.token),
        run.id,
        run.info.namespace,
        effect.token,
        effect.title,
        effect.by,
        draft.at,
        effect.deadline,
        effect.form,
        effect.evidence,
    )


def _send(effect: SendMessage, run: Run, draft: UnitOfWork) -> None:
    error = ErrorInfo("kernel.undeliverable", f"run {caller_id(effect.run_id)} is unknown or has ended")
    token = TaskToken(effect.key)
    label = f"message {effect.name}"
    letter = DeadLetter(letter_id(run, token), run.id, run.info.namespace, token, label, 1, error, draft.at)
    message = Message(f"{run.id}:{effect.key}", effect.name, effect.body, draft.at)
    draft.send(effect.run_id, f"~sent:{message.id}", message, letter)


def _child(child: StartChild, run: Run, draft: UnitOfWork) -> NewChild:
    shard = shard_of(child.run_id)
    row = RunRow(
        id=child.run_id,
        namespace=run.info.namespace,
        dialect=child.dialect,
        definition=child.definition,
        version=child.version,
        shard=shard,
        parent=run.id,
        parent_token=child.token,
        depth=run.info.depth + 1,
        labels=child.labels,
        created_at=draft.at,
        deadline=child.deadline,
    )
    start = Start(
        dialect=child.dialect,
        definition=child.definition,
        input=child.input,
        version=child.version,
        seed=run.ids.seed(),
        deadline=child.deadline,
        labels=child.labels,
        data=child.data,
    )
    taken = ErrorInfo(
        "kernel.run_exists", f"run {caller_id(child.run_id)} exists and is not a child of this one", kind="conflict"
    )
    refusal = ChildFinished(child.token, child.run_id, "refused", error=taken)
    return NewChild(
        row,
        InboxRow(child.run_id, shard, "~start", values.plain(start), draft.at),
        InboxRow(run.id, run.shard, f"~child:{child.run_id}:refused", values.plain(refusal), draft.at),
    )
