"""Commands that a run's code answers: `query`, `update`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from plait.kernel.errors import Conflict
from plait.kernel.ids import Ids

from .connect import connect
from .options import DEFAULT_DB, Json, Key, Namespace, Place, RunArgument, Where, read_json
from .output import emit, say
from .records import run_document
from .session import do
from .words import value


def query(
    run: RunArgument,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The query's name.", show_default=False)],
    argument: Annotated[
        str, typer.Argument(metavar="[JSON]", help="Its argument; @file reads a file.", show_default=False)
    ] = "null",
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """Query a run's code. It changes nothing; a run that has ended answers too."""
    do(_query(run, name, read_json(argument, "the query's argument"), Where(db, key, namespace), json))


async def _query(run: str, name: str, argument: Any, where: Where, json: bool) -> None:
    async with connect(where) as session:
        handle = await session.engine.get(run, session.namespace)
        answer = await handle.query(name, argument)
        if json:
            emit(run_document(await handle.row(), answer=answer))
        else:
            say(value(answer))


def update(
    run: RunArgument,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The update's name.", show_default=False)],
    body: Annotated[
        str, typer.Argument(metavar="[JSON]", help="Its body; @file reads a file.", show_default=False)
    ] = "null",
    update_id: Annotated[
        str | None, typer.Option(metavar="KEY", help="The same key twice is one update.", show_default="generated")
    ] = None,
    wait: Annotated[float, typer.Option(metavar="SECONDS", min=0.001, help="How long to wait for the answer.")] = 30.0,
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """Have a run's code handle an update, and print its answer. A rejected update is not recorded."""
    content, where = read_json(body, "the update's body"), Where(db, key, namespace)
    do(_update(run, name, content, update_id or Ids().key(), wait, where, json))


async def _update(run: str, name: str, body: Any, update_id: str, wait: float, where: Where, json: bool) -> None:
    async with connect(where) as session:
        handle = await session.engine.get(run, session.namespace)
        try:
            answer = await handle.update(name, body, update_id, wait=wait)
        except TimeoutError:
            raise Conflict(
                "cli.no_answer",
                f"run {handle.id} has not answered in {wait:g} s",
                why="the update is kept, and so is an answer that comes later",
                fix=f"ask again: plait update {handle.id} {name} --update-id {update_id} --wait {wait:g}",
            ) from None
        if json:
            emit(run_document(await handle.row(), update_id=update_id, answer=answer))
        else:
            say(value(answer))
