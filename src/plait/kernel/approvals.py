"""Open approvals: requested, voted on, delegated, escalated, withdrawn.

The machine hears once, when the approval is decided. Until then the kernel handles votes and escalations: as events
that `open_approvals` folds, and as changes of the record.
"""

from __future__ import annotations

from msgspec.structs import replace

from . import notices
from .approval import Approval, ApprovalChange, ClosedStatus, Vote
from .effects import RequestApproval, WithdrawApproval
from .errors import Conflict, Forbidden, InvalidInput
from .events import ApprovalClosed, ApprovalDelegated, ApprovalEscalated, ApprovalRequested, ApprovalVoted
from .ids import Millis, TaskToken
from .inputs import Decided, Delegate
from .open_approvals import OpenApproval
from .run import Run, letter_id
from .unit_of_work import UnitOfWork
from .values import ABSENT

ESCALATE = "~escalate:"


def request(effect: RequestApproval, run: Run, unit: UnitOfWork) -> None:
    if run.state.status != "running" or run.state.rolling_back:
        return  # nothing would withdraw it later
    if effect.token in run.state.approvals:
        return  # after a load the machine repeats what must be in flight
    if effect.required > 1 or effect.approvers or effect.escalations:
        run.emit(ApprovalRequested(effect.token, effect.required, effect.approvers, effect.escalations), unit)
        _set_escalation(run.state.approvals[effect.token], unit)
    record = Approval(
        letter_id(run.id, effect.token),
        run.id,
        run.info.namespace,
        effect.token,
        effect.title,
        effect.by,
        unit.at,
        effect.deadline,
        effect.form,
        effect.evidence,
        effect.required,
        effect.approvers,
        effect.escalations,
    )
    unit.request_approval(record)
    notices.send(effect.token, effect.approvers, effect.service, run, unit)


def withdraw(effect: WithdrawApproval, run: Run, unit: UnitOfWork) -> None:
    _forget(effect.token, effect.status, run, unit)
    unit.change_approval(ApprovalChange(effect.status, unit.at, effect.token, effect.by))


def vote(cast: Decided, run: Run, unit: UnitOfWork) -> Decided | None:
    """Counts a vote. Returns the decision for the machine, or None while the approval is open."""
    known = run.state.approvals.get(cast.token)
    if known is None:  # one vote is enough
        given = Vote(cast.by, cast.decision, unit.at, cast.comment, cast.data, cast.evidence_hash)
        change = _closing(cast, (given,), unit.at)
        _forget(cast.token, "approved" if change.status == "approved" else "rejected", run, unit)
        unit.change_approval(change)
        return cast
    if not _is_new(cast, known):
        return None
    run.emit(ApprovalVoted(cast.token, cast.by, cast.decision, cast.comment, cast.data, cast.evidence_hash), unit)
    known = run.state.approvals[cast.token]
    if known.outcome is None:
        unit.change_approval(ApprovalChange("open", unit.at, cast.token, votes=known.votes))
        return None
    _forget(cast.token, known.outcome, run, unit)
    if known.outcome == "approved":
        cast = replace(cast, by=", ".join(each.by for each in known.votes))
    unit.change_approval(_closing(cast, known.votes, unit.at))
    return cast


def delegate(handing: Delegate, run: Run, unit: UnitOfWork) -> None:
    """Delegates an approver's vote. Repeating it changes nothing."""
    known = run.state.approvals.get(handing.token)
    if known is None or not known.approvers:
        raise Conflict(
            "kernel.nothing_to_delegate",
            f"`{handing.token}` names no approvers",
            why="anyone with the right to approve may decide it, or it is closed",
            fix=f"let {handing.to} decide it",
        )
    handed = known.handed_on(handing.by)
    if handed is not None and handed.to == handing.to:
        return
    _must_have_vote(handing.by, known)
    if (vote := known.vote_of(handing.by)) is not None:
        raise Conflict("kernel.already_voted", f"{handing.by} has already voted `{vote.decision}` on `{handing.token}`")
    if handing.to in known.approvers:
        raise Conflict(
            "kernel.has_a_vote",
            f"{handing.to} may decide `{handing.token}` already",
            why="one person has one vote",
            fix="delegate to someone else, or leave it to them",
        )
    run.emit(ApprovalDelegated(handing.token, handing.by, handing.to, handing.comment), unit)
    _notify(handing.token, (handing.to,), run, unit)
    known = run.state.approvals[handing.token]
    change = ApprovalChange("open", unit.at, handing.token, approvers=known.approvers, delegations=known.delegations)
    unit.change_approval(change)


def escalate(token: TaskToken, run: Run, unit: UnitOfWork) -> None:
    """Nobody decided in time: adds approvers, and the approval stays open."""
    known = run.state.approvals.get(token)
    if known is None or (step := known.next_escalation) is None:
        return
    run.emit(ApprovalEscalated(token, known.level + 1, step.to), unit)
    known = run.state.approvals[token]
    unit.change_approval(ApprovalChange("open", unit.at, token, approvers=known.approvers, level=known.level))
    _set_escalation(known, unit)
    _notify(token, step.to, run, unit)


def _notify(token: TaskToken, people: tuple[str, ...], run: Run, unit: UnitOfWork) -> None:
    """Notifies the people added as approvers."""
    known = run.state.notices.get(token)
    notices.send_more(token, people, known.service if known is not None else "", run, unit)


def _set_escalation(known: OpenApproval, unit: UnitOfWork) -> None:
    if (step := known.next_escalation) is not None:
        unit.set_timer(TaskToken(ESCALATE + known.token), Millis(unit.at + step.after))


def _is_new(cast: Decided, known: OpenApproval) -> bool:
    """False for a vote that was already counted; raises for one that is not allowed."""
    if not cast.by:
        raise InvalidInput(
            "kernel.anonymous_vote", f"a vote on `{cast.token}` needs the name of who votes", fix="say who, with `by`"
        )
    _must_have_vote(cast.by, known)
    earlier = known.vote_of(cast.by)
    if earlier is not None and earlier.decision != cast.decision:
        raise Conflict(
            "kernel.already_voted",
            f"{cast.by} has already voted `{earlier.decision}` on `{cast.token}`",
            why="a vote can't be changed",
            fix="let another approver reject it",
        )
    return earlier is None


def _must_have_vote(by: str, known: OpenApproval) -> None:
    if known.may_vote(by):
        return
    handed = known.handed_on(by)
    raise Forbidden(
        "kernel.not_an_approver",
        f"{by} may not decide `{known.token}`",
        why=f"their vote was handed to {handed.to}" if handed else f"its approvers are {', '.join(known.approvers)}",
        fix="let one of its approvers decide",
    )


def _closing(decided: Decided, votes: tuple[Vote, ...], at: Millis) -> ApprovalChange:
    status = "approved" if decided.decision == "approve" else "rejected"
    answer = ABSENT if bytes(decided.data) == b"null" else decided.data
    return ApprovalChange(status, at, decided.token, decided.by, answer, votes)


def _forget(token: TaskToken, status: ClosedStatus, run: Run, unit: UnitOfWork) -> None:
    known, notified = run.state.approvals.get(token), notices.drop(token, run, unit)
    if known is None and not notified:
        return
    run.emit(ApprovalClosed(token, status), unit)
    if known is not None and known.escalations:
        unit.clear_timer(TaskToken(ESCALATE + token))
