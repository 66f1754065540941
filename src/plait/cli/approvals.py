"""`plait approvals`: approvals that runs request, open and decided."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer
from msgspec import Raw

from plait.kernel.approval import Approval, ApprovalStatus, Delegation, Vote
from plait.kernel.ids import caller_id

from . import words
from .connect import connect
from .options import DEFAULT_DB, Json, Key, Namespace, Place, Where
from .output import document, emit, facts, say, status_text, table
from .session import do

Shown = ApprovalStatus | Literal["all"]
MOST = 100


def approvals(
    approval: Annotated[str | None, typer.Argument(metavar="[ID]", help="Show this one.", show_default=False)] = None,
    status: Annotated[
        str, typer.Option(metavar="STATUS", help="open, approved, rejected, expired, withdrawn or all.")
    ] = "open",
    run: Annotated[str | None, typer.Option(metavar="RUN", help="Filter by run.", show_default=False)] = None,
    limit: Annotated[int, typer.Option(min=1, help="Show at most N.")] = MOST,
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """List approvals: the open ones oldest first, others newest first. With ID, show one with its votes."""
    where = Where(db, key, namespace)
    if approval is not None:
        _show(do(_get(where, approval)), json=json)
        return
    show_list(do(_listed(where, status, run, limit + 1)), status, limit, json=json)


async def _get(where: Where, id: str) -> Approval:
    async with connect(where) as session:
        return await session.engine.approvals.get(id, session.namespace)


async def _listed(where: Where, status: str, run: str | None, limit: int) -> list[Approval]:
    async with connect(where) as session:
        return await session.engine.approvals.list(session.namespace, run, status=_status(status), limit=limit)


def _status(text: str) -> Shown:
    for known in ("open", "approved", "rejected", "expired", "withdrawn", "all"):
        if text == known:
            return known
    raise typer.BadParameter(f"`{text}` is not a status of approvals", param_hint="--status")


def show_list(found: list[Approval], status: str, limit: int, *, json: bool) -> None:
    """The first of them; one more says that there are more."""
    shown = found[:limit]
    if json:
        emit([_document(each) for each in shown])
    elif shown:
        now = words.now()
        rows = [
            (each.id, each.title, status_text(progress(each)), _asked(each), words.ago(each.asked_at, now))
            for each in shown
        ]
        table(("ID", "APPROVAL", "STATUS", "BY", "REQUESTED"), rows, fold=("ID", "APPROVAL", "BY"))
        if len(found) > limit:
            say(f"… and more: plait approvals --limit {limit * 5}", "bright_black")
    else:
        which = {"open": "pending ", "all": ""}.get(status, f"{status} ")
        say(f"no {which}approvals")


def progress(approval: Approval) -> str:
    """Returns its status, with how many of the required people have approved."""
    if approval.status != "open" or approval.required == 1:
        return approval.status
    return f"{len(approval.votes)} of {approval.required}"


def _asked(approval: Approval) -> str:
    """Returns who decided, or else who may."""
    return approval.decided_by or approval.by or ", ".join(approval.approvers) or "anyone"


def _show(approval: Approval, *, json: bool) -> None:
    if json:
        emit(_document(approval))
        return
    facts(
        [
            ("approval", approval.title),
            ("id", approval.id),
            ("run", caller_id(approval.run_id)),
            ("status", status_text(approval.status)),
            ("approved", f"{_approvals(approval)} of {approval.required}" if approval.required > 1 else None),
            ("by", approval.by or None),
            ("approvers", ", ".join(approval.approvers) or None),
            ("requested", words.clock(approval.asked_at)),
            ("deadline", words.clock(approval.deadline) or None),
            ("escalated", f"{approval.level} of {len(approval.escalations)}" if approval.escalations else None),
            ("decided", words.clock(approval.decided_at) or None),
            ("decided by", approval.decided_by or None),
            *(("delegated", _delegation(each)) for each in approval.delegations),
            *(("vote", _vote(vote)) for vote in approval.votes),
            ("evidence", approval.evidence_hash and f"sha256 {approval.evidence_hash}"),
        ]
    )


def _approvals(approval: Approval) -> int:
    return sum(vote.decision == "approve" for vote in approval.votes)


def _vote(vote: Vote) -> str:
    comment = f": {words.one_line(vote.comment)}" if vote.comment else ""
    return f"{vote.by or 'someone'} {vote.decision} {words.clock(vote.at)}{comment}"


def _delegation(made: Delegation) -> str:
    comment = f": {words.one_line(made.comment)}" if made.comment else ""
    return f"{made.by} to {made.to} {words.clock(made.at)}{comment}"


def _document(approval: Approval) -> dict[str, Any]:
    return document(
        id=approval.id,
        run=caller_id(approval.run_id),
        title=approval.title,
        status=approval.status,
        by=approval.by or None,
        asked_at=approval.asked_at,
        deadline=approval.deadline,
        form=_given(approval.form),
        evidence=_given(approval.evidence),
        required=approval.required,
        approvers=approval.approvers,
        votes=approval.votes,
        escalations=approval.escalations or None,
        level=approval.level or None,
        decided_at=approval.decided_at,
        decided_by=approval.decided_by or None,
        answer=_given(approval.answer),
        delegations=approval.delegations or None,
        evidence_hash=approval.evidence_hash or None,
    )


def _given(value: Raw) -> Raw | None:
    return value if bytes(value) else None
