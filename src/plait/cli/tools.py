"""`plait tools`: what pipelines of agents were promoted to, on the database itself."""

from __future__ import annotations

from typing import Annotated

import typer

from plait.agents.promotion.tool_log import PromotedTool
from plait.kernel.ids import DEFAULT_NAMESPACE

from . import words
from .audited import note_change
from .options import DEFAULT_DB, Db, Json, group
from .output import emit, say, table
from .session import do, looking

tools = group()

Of = Annotated[str, typer.Option("--namespace", "-n", metavar="NAME", help="Whose tools.")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="The tool.", show_default=False)]


@tools.callback(invoke_without_command=True)
def default(ctx: typer.Context, namespace: Of = DEFAULT_NAMESPACE, db: Db = DEFAULT_DB, json: Json = False) -> None:
    """Tools that pipelines of agents were promoted to. Without a command: list."""
    if ctx.invoked_subcommand is None:
        _show(db, namespace, json=json)


@tools.command("list")
def list_(namespace: Of = DEFAULT_NAMESPACE, db: Db = DEFAULT_DB, json: Json = False) -> None:
    """List them, the oldest first."""
    _show(db, namespace, json=json)


@tools.command()
def remove(name: Name, namespace: Of = DEFAULT_NAMESPACE, db: Db = DEFAULT_DB, json: Json = False) -> None:
    """Take a tool away for good: its pipeline is not promoted again."""
    do(_remove(db, namespace, name))
    if json:
        emit({"name": name})
    else:
        say(f"{name} was removed")


def _show(db: str, namespace: str, *, json: bool) -> None:
    found = do(_all(db, namespace))
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


async def _all(db: str, namespace: str) -> list[PromotedTool]:
    async with looking(db) as engine:
        return await engine.tools.of(namespace).list()


async def _remove(db: str, namespace: str, name: str) -> None:
    async with looking(db) as engine:
        await engine.tools.of(namespace).remove(name)
        await note_change(engine, "tool.remove", name, namespace)
