"""The notices of a run's open approvals: tasks of the kernel itself, invisible to machines.

They are opened with the approval, an escalation or a delegation, retried for about half a day, and then become dead
letters. Whatever happens to them, the approval stays open: people can find it in the inbox.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from .errors import Conflict
from .events import ApprovalNotified, NoticeEnded
from .ids import TaskToken
from .inputs import TaskResult
from .notice import NOTICE, Notice, NoticeInput
from .open_tasks import open_task, revoke
from .recovery import start_again
from .retry import Retry
from .run import Run, letter_id
from .store import Settled
from .task import Policy, Task
from .unit_of_work import UnitOfWork

PREFIX: Final = "~notice:"
_POLICY = Policy(retry=Retry(12, first=10.0, factor=3.0, cap=7_200.0), timeout=60.0, retry_on_timeout=True)
"""The last attempt starts about 11 hours after the first."""


def is_notice(token: TaskToken) -> bool:
    return token.startswith(PREFIX)


def send(approval: TaskToken, approvers: Sequence[str], service: str, run: Run, unit: UnitOfWork) -> None:
    """Sends the notices of a new approval; one that is requested again after a load already has its own."""
    if approval not in run.state.notices:
        send_more(approval, approvers, service, run, unit)


def send_more(approval: TaskToken, approvers: Sequence[str], service: str, run: Run, unit: UnitOfWork) -> None:
    """Sends notices to people who have become approvers."""
    wanted = tuple(run.notify(approvers, service))
    if not wanted:
        return
    run.emit(ApprovalNotified(approval, wanted, service), unit)
    for token in list(run.state.notices[approval].pending)[-len(wanted) :]:
        open_task(_task(approval, token, run), run, unit)


def send_again(run: Run, unit: UnitOfWork) -> None:
    """After a load: restarts notices not known to be sent."""
    for approval, known in run.state.notices.items():
        for token in list(known.pending):
            if (interrupted := start_again(_task(approval, token, run), run, unit)) is not None:
                ended(interrupted, run, unit)


def repeat(run: Run, unit: UnitOfWork) -> None:
    """Repeats the notices in a fork, because its approvals are its own."""
    for approval, known in run.state.notices.items():
        if sent := tuple(notice for token, notice in known.all.items() if token not in known.pending):
            run.emit(ApprovalNotified(approval, sent, known.service), unit)


def ended(result: TaskResult, run: Run, unit: UnitOfWork) -> None:
    """Records that a notice was sent, or failed for good."""
    if (approval := _approval_of(result.token, run)) is not None:
        status = "sent" if result.error is None else "failed"
        run.emit(NoticeEnded(approval, result.token, status, result.error), unit)


def settle(token: TaskToken, verdict: Literal["retried", "discarded"], run: Run, unit: UnitOfWork) -> None:
    """Retries or discards, on request, a notice that failed for good."""
    approval = _approval_of(token, run)
    if approval is None:
        if verdict == "retried":
            raise Conflict("kernel.approval_decided", f"the approval of `{token}` is closed", fix="discard the notice")
    elif verdict == "retried":
        run.emit(NoticeEnded(approval, token, "retried"), unit)
        open_task(_task(approval, token, run), run, unit)
    unit.settle([Settled(letter_id(run.id, token), verdict)])


def drop(approval: TaskToken, run: Run, unit: UnitOfWork) -> bool:
    """Stops the unsent notices of a closed approval. False if it had none."""
    known = run.state.notices.get(approval)
    for token in list(known.pending) if known is not None else ():
        revoke(token, run, unit)
    return known is not None


def _approval_of(token: TaskToken, run: Run) -> TaskToken | None:
    return next((approval for approval, known in run.state.notices.items() if token in known.all), None)


def _task(approval: TaskToken, token: TaskToken, run: Run) -> Task:
    notice: Notice = run.state.notices[approval].all[token]
    whom = f" to {notice.approver}" if notice.approver else ""
    label = f"the {notice.channel} notice of `{approval}`{whom}"
    return Task(token, label, NOTICE, NoticeInput(approval, notice), _POLICY, f"{run.id}:{token}")
