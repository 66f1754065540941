"""`plait tools`: tools that were promoted from agents' pipelines."""

from __future__ import annotations

from typing import Annotated

import typer

from plait.agents.promotion.tool_log import PromotedTool

from . import words
from .audited import note_change
from .connect import connect
from .database import DatabaseSession
from .options import DEFAULT_DB, Json, Key, Namespace, Place, Where, group
from .output import emit, say, table
from .session import do

tools = group()

Name = Annotated[str, typer.Argument(metavar="NAME", help="The tool.", show_default=False)]


@tools.callback(invoke_without_command=True)
def default(
    ctx: typer.Context, namespace: Namespace = None, db: Place = DEFAULT_DB, key: Key = None, json: Json = False
) -> None:
    """Tools that pipelines of agents were promoted to. Without a command: list."""
    if ctx.invoked_subcommand is None:
        _show(Where(db, key, namespace), json=json)


@tools.command("list")
def list_(namespace: Namespace = None, db: Place = DEFAULT_DB, key: Key = None, json: Json = False) -> None:
    """List them, oldest first."""
    _show(Where(db, key, namespace), json=json)


@tools.command()
def remove(
    name: Name, namespace: Namespace = None, db: Place = DEFAULT_DB, key: Key = None, json: Json = False
) -> None:
    """Remove a tool permanently: its pipeline is not promoted again."""
    do(_remove(Where(db, key, namespace), name))
    if json:
        emit({"name": name})
    else:
        say(f"{name} was removed")


def _show(where: Where, *, json: bool) -> None:
    found = do(_all(where))
    if json:
        emit(found)
    elif not found:
        say("no pipeline was promoted yet")
    else:
        table(
            ["tool", "steps", "promoted"],
            [
                [each.name, ", ".join(str(step["step"]) for step in each.steps), words.ago(each.at, words.now())]
                for each in found
            ],
        )


async def _all(where: Where) -> list[PromotedTool]:
    async with connect(where) as session:
        return await session.engine.tools.of(session.namespace).list()


async def _remove(where: Where, name: str) -> None:
    async with connect(where) as session:
        await session.engine.tools.of(session.namespace).remove(name)
        if isinstance(session, DatabaseSession):  # a server writes its own audit log
            await note_change(session.engine, "tool.remove", name, session.namespace)
