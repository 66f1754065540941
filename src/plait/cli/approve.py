"""`plait approve`: approvals that runs wait for, and the decisions on them."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, Any

import typer

from plait.kernel.approval import Approval
from plait.kernel.errors import Conflict, NotFound
from plait.kernel.ids import caller_id

from .acknowledgement import report
from .approvals import MOST, show_list
from .connect import connect
from .contract import Session
from .options import DEFAULT_DB, Json, Key, Namespace, Place, Where, read_json
from .session import do
from .words import quoted


def approve(
    approval: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="The run, or one of its approvals.", show_default=False)
    ] = None,
    reject: Annotated[bool, typer.Option("--reject", help="Reject instead.")] = False,
    delegate_to: Annotated[
        str | None,
        typer.Option("--delegate-to", metavar="NAME", help="Delegate your vote to NAME instead.", show_default=False),
    ] = None,
    comment: Annotated[str, typer.Option(metavar="TEXT", help="Kept with the decision.", show_default=False)] = "",
    data: Annotated[
        str | None, typer.Option(metavar="JSON|@FILE", help="What the form asks for.", show_default=False)
    ] = None,
    by: Annotated[
        str, typer.Option(metavar="NAME", help="Who decides; a server uses the key's name.", show_default="you")
    ] = "",
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """Decide an approval that a run waits for. Without ID, list the open approvals."""
    where = Where(db, key, namespace)
    if approval is None:
        show_list(do(_pending(where)), "open", MOST, json=json)
        return
    if delegate_to is not None:
        do(_delegate(approval, delegate_to, by, comment, where, json))
        return
    answer = {
        "decision": "reject" if reject else "approve",
        "comment": comment,
        "data": None if data is None else read_json(data, "the data"),
    }
    do(_decide(approval, answer, by, where, json))


async def _pending(where: Where) -> list[Approval]:
    async with connect(where) as session:
        return await session.engine.approvals.list(session.namespace, limit=MOST + 1)


async def _decide(id: str, answer: dict[str, Any], by: str, where: Where, json: bool) -> None:
    async with connect(where) as session:
        asked = await _find(session, id)
        run = await session.engine.get(caller_id(asked.run_id), session.namespace)
        answering = session.engine.approvals.decide(
            asked.id, **answer, by=by or session.me, namespace=session.namespace
        )
        taken = await session.told(run, answering)
        verb = "approved" if answer["decision"] == "approve" else "rejected"
        votes = "" if taken is False else await _votes(session, asked.id)
        await report(run, f"run {run.id}: {quoted(asked.title)} {verb}{votes}", taken, json=json, approval=asked.id)


async def _delegate(id: str, to: str, by: str, comment: str, where: Where, json: bool) -> None:
    async with connect(where) as session:
        asked = await _find(session, id)
        run = await session.engine.get(caller_id(asked.run_id), session.namespace)
        delegating = session.engine.approvals.delegate(
            asked.id, to, by=by or session.me, comment=comment, namespace=session.namespace
        )
        taken = await session.told(run, delegating)
        await report(run, f"run {run.id}: {quoted(asked.title)} delegated to {to}", taken, json=json, approval=asked.id)


async def _votes(session: Session, id: str) -> str:
    """Returns how many have approved, if one is not enough."""
    found = await session.engine.approvals.get(id, session.namespace)
    many = found.required > 1 and found.status != "rejected"
    return f" ({len(found.votes)} of {found.required})" if many else ""


async def _find(session: Session, id: str) -> Approval:
    """Finds an approval by its own id, or by its run if that waits for only one."""
    with suppress(NotFound):
        return await session.engine.approvals.get(id, session.namespace)
    of_run = [] if "/" in id else await session.engine.approvals.list(session.namespace, id)
    if len(of_run) == 1:
        return of_run[0]
    if of_run:
        ids = ", ".join(asked.id for asked in of_run)
        raise Conflict("cli.many_approvals", f"run {id} waits for {len(of_run)} approvals", fix=f"name one: {ids}")
    await session.engine.get(id.partition(":")[0], session.namespace)  # raises another error if the run does not exist
    raise NotFound(
        "kernel.no_approval",
        f"there is no open approval {id}",
        why="it was not requested yet, or is decided already",
        fix="`plait approve` lists them",
    )
