"""`plait plan`: what a run would do, before it starts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from plait.kernel.definitions import Plan
from plait.kernel.errors import InvalidInput

from . import exits
from .connect import connect
from .definition_files import read_definition_file
from .extension import Extension, Startable
from .extensions import extensions
from .options import DEFAULT_DB, Json, Key, Namespace, Place, Where, read_inputs, read_json
from .output import document, emit
from .session import do, is_missing


def plan(
    names: Annotated[
        list[str],
        typer.Argument(metavar="GOAL...|FILE", help="Steps to reach, or a file with a graph.", show_default=False),
    ],
    input: Annotated[
        list[str] | None,
        typer.Option(metavar="K=V|JSON|@FILE", help="An input; repeatable.", show_default="nothing"),
    ] = None,
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """Show what a run would do: towards goals, which steps in which order, where their inputs come from, what is left
    out and why, what is missing; of a graph, its compiled form. Starts nothing. Exit code 2: it can't be started."""
    extension, definition = _wanted(names)
    given = _given(extension, input or ())
    alone = extension.plan_alone(definition, given) if is_missing(db) else None
    found = alone if alone is not None else do(_plan(definition, given, Where(db, key, namespace)))
    if json:
        emit(_document(found))
    else:
        extension.say_plan(found)
    raise typer.Exit(exits.OK if found.startable else exits.REFUSED)


def _wanted(names: Sequence[str]) -> tuple[Extension, Startable]:
    """Returns the definition in a file, or else what these names mean."""
    found = read_definition_file(names[0]) if len(names) == 1 else None
    if found is not None:
        return found.extension, found.extension.definition(found.content)
    for extension in extensions():
        definition = extension.planned(names)
        if definition is not None:
            return extension, definition
    raise InvalidInput("cli.usage", f"{', '.join(names)} can't be planned", fix="name steps, or a file with a graph")


def _given(extension: Extension, inputs: Sequence[str]) -> Any:
    if extension.named_inputs:
        return read_inputs(inputs)
    if len(inputs) > 1:
        raise InvalidInput("cli.two_inputs", "the input is given twice", fix="leave one of them out")
    return read_json(inputs[0], "the input") if inputs else None


async def _plan(definition: Startable, given: Any, where: Where) -> Plan:
    async with connect(where) as session:
        return await session.engine.plan(definition, given, session.namespace)


def _document(found: Plan) -> dict[str, Any]:
    """Returns the plan in the form of the server's answer."""
    return document(
        dialect=found.dialect,
        definition=found.definition,
        valid=found.startable,
        input=found.input,
        notes=found.notes,
        plan=found.body,
    )
