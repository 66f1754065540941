"""`plait plan`: what a run towards goals would do, before it is started."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from plait.cli import exits
from plait.cli.connect import connect
from plait.cli.options import DEFAULT_DB, Json, Key, Namespace, Place, Where, read_inputs
from plait.cli.output import document, emit
from plait.cli.session import do
from plait.dialects.goals.definition import Goals
from plait.kernel.definitions import Plan

from .plan_view import say_plan


def plan(
    goals: Annotated[list[str], typer.Argument(metavar="GOAL...", help="Steps to reach.", show_default=False)],
    input: Annotated[
        list[str] | None,
        typer.Option(metavar="K=V|JSON|@FILE", help="What is given; repeatable.", show_default="nothing"),
    ] = None,
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """Show what a run towards these goals would do: which steps in which order, where their inputs come from, what is
    left out and why, what is missing. Starts nothing. Exit code 2: it can't be started."""
    found = do(_plan(Goals(tuple(goals)), read_inputs(input or ()), Where(db, key, namespace)))
    if json:
        emit(_document(found))
    else:
        say_plan(found)
    raise typer.Exit(exits.OK if found.startable else exits.REFUSED)


async def _plan(goals: Goals, given: dict[str, Any], where: Where) -> Plan:
    async with connect(where) as session:
        return await session.engine.plan(goals, given, session.namespace)


def _document(found: Plan) -> dict[str, Any]:
    """As the server answers it."""
    return document(
        dialect=found.dialect,
        definition=found.definition,
        valid=found.startable,
        input=found.input,
        notes=found.notes,
        plan=found.body,
    )
