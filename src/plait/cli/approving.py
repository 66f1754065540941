"""`plait approve`: what runs ask people, and the answers."""

from __future__ import annotations

import getpass
from typing import Annotated

import typer

from plait.engine import Engine
from plait.kernel.errors import Conflict, NotFound
from plait.kernel.ids import DEFAULT_NAMESPACE, caller_id, run_key
from plait.kernel.store import Question

from . import words
from .options import DEFAULT_DB, Db, Json, Namespace
from .output import document, emit, say, table
from .session import do, looking
from .told import report, teller


def approve(
    question: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="The run, or one question of it.", show_default=False)
    ] = None,
    reject: Annotated[bool, typer.Option("--reject", help="Say no.")] = False,
    comment: Annotated[str, typer.Option(metavar="TEXT", help="Kept with the answer.", show_default=False)] = "",
    by: Annotated[str, typer.Option(metavar="NAME", help="Who answers.", show_default="you")] = "",
    namespace: Namespace = DEFAULT_NAMESPACE,
    db: Db = DEFAULT_DB,
    json: Json = False,
) -> None:
    """Answer what a run asks a person. Without ID, list the open questions."""
    if question is None:
        _list(do(_questions(db, namespace)), json=json)
    else:
        do(_decide(question, "reject" if reject else "approve", comment, by or _me(), namespace, db, json))


async def _questions(db: str, namespace: str) -> list[Question]:
    async with looking(db) as engine:
        return await engine.approvals.list(namespace)


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
                )
                for asked in found
            ]
        )
    elif found:
        now = words.now()
        rows = [(asked.id, asked.title, asked.by or "anyone", words.ago(asked.asked_at, now)) for asked in found]
        table(("ID", "QUESTION", "WHO", "ASKED"), rows, fold=("ID", "QUESTION"))
    else:
        say("nobody is asked anything")


async def _decide(id: str, decision: str, comment: str, by: str, namespace: str, db: str, json: bool) -> None:
    async with teller(db) as telling:
        engine = telling.engine
        asked = await _find(engine, id, namespace)
        answering = engine.approvals.decide(asked.id, decision, by=by, comment=comment, namespace=namespace)
        taken = await telling.told(asked.run_id, answering)
        handle = await engine.get(caller_id(asked.run_id), namespace)
        verb = "approved" if decision == "approve" else "rejected"
        await report(handle, f"run {handle.id}: `{asked.title}` {verb}", taken, json=json, question=asked.id)


async def _find(engine: Engine, id: str, namespace: str) -> Question:
    """By the question's own id, or by its run when that asks one thing only."""
    found = await engine.approvals.list(namespace)
    for asked in found:
        if asked.id == id:
            return asked
    of_run = [asked for asked in found if caller_id(asked.run_id) == id]
    if len(of_run) == 1:
        return of_run[0]
    if of_run:
        ids = ", ".join(asked.id for asked in of_run)
        raise Conflict("cli.many_questions", f"run {id} asks {len(of_run)} things", fix=f"name one: {ids}")
    if ":" not in id:
        await engine.get(id, namespace)  # a run that is not there is another mistake
    elif await engine.kernel.store.run(run_key(namespace, id.partition(":")[0])) is None:
        raise NotFound("kernel.no_run", f"there is no run {id.partition(':')[0]}", fix="`plait runs` lists them")
    raise NotFound(
        "kernel.no_approval",
        f"nothing is asked under {id}",
        why="it does not ask yet, or was answered",
        fix="`plait approve` lists what is asked",
    )


def _me() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""
