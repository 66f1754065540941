"""`plait approve`: approvals that runs wait for, and the decisions on them."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from msgspec import Raw

from plait.kernel.errors import Conflict, NotFound
from plait.kernel.ids import caller_id
from plait.kernel.store import Question

from . import words
from .acknowledgement import report
from .connect import connect
from .contract import Session
from .options import DEFAULT_DB, Json, Key, Namespace, Place, Where, read_json
from .output import document, emit, say, table
from .session import do


def approve(
    approval: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="The run, or one of its approvals.", show_default=False)
    ] = None,
    reject: Annotated[bool, typer.Option("--reject", help="Reject instead.")] = False,
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
    """Decide an approval that a run waits for. Without ID, list the pending approvals."""
    where = Where(db, key, namespace)
    if approval is None:
        _list(do(_pending(where)), json=json)
        return
    answer = {
        "decision": "reject" if reject else "approve",
        "comment": comment,
        "data": None if data is None else read_json(data, "the data"),
    }
    do(_decide(approval, answer, by, where, json))


async def _pending(where: Where) -> list[Question]:
    async with connect(where) as session:
        return await session.engine.approvals.list(session.namespace)


def _list(found: list[Question], *, json: bool) -> None:
    if json:
        emit(
            [
                document(
                    id=asked.id,
                    run=caller_id(asked.run_id),
                    title=asked.title,
                    by=asked.by or None,
                    asked_at=asked.asked_at,
                    deadline=asked.deadline,
                    form=_given(asked.form),
                    evidence=_given(asked.evidence),
                )
                for asked in found
            ]
        )
    elif found:
        now = words.now()
        rows = [(asked.id, asked.title, asked.by or "anyone", words.ago(asked.asked_at, now)) for asked in found]
        table(("ID", "APPROVAL", "BY", "REQUESTED"), rows, fold=("ID", "APPROVAL"))
    else:
        say("no pending approvals")


def _given(value: Raw) -> Raw | None:
    return value if bytes(value) else None


async def _decide(id: str, answer: dict[str, Any], by: str, where: Where, json: bool) -> None:
    async with connect(where) as session:
        asked = await _find(session, id)
        run = await session.engine.get(caller_id(asked.run_id), session.namespace)
        answering = session.engine.approvals.decide(
            asked.id, **answer, by=by or session.me, namespace=session.namespace
        )
        taken = await session.told(run, answering)
        verb = "approved" if answer["decision"] == "approve" else "rejected"
        await report(run, f"run {run.id}: `{asked.title}` {verb}", taken, json=json, question=asked.id)


async def _find(session: Session, id: str) -> Question:
    """By its own id, or by its run when that waits for one only."""
    found = await session.engine.approvals.list(session.namespace)
    for asked in found:
        if asked.id == id:
            return asked
    of_run = [asked for asked in found if caller_id(asked.run_id) == id]
    if len(of_run) == 1:
        return of_run[0]
    if of_run:
        ids = ", ".join(asked.id for asked in of_run)
        raise Conflict("cli.many_questions", f"run {id} waits for {len(of_run)} approvals", fix=f"name one: {ids}")
    await session.engine.get(id.partition(":")[0], session.namespace)  # a run that is not there is another mistake
    raise NotFound(
        "kernel.no_approval",
        f"there is no pending approval {id}",
        why="it was not requested yet, or is decided already",
        fix="`plait approve` lists them",
    )
