"""`plait record`: tool calls that become a workflow."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Annotated, Any, Literal, cast

import typer

from plait.cli import exits
from plait.cli.connect import connect
from plait.cli.options import DEFAULT_DB, Json, Key, Namespace, Place, Where, group, read_inputs, read_json, read_pairs
from plait.cli.output import document, emit, note, say, table
from plait.cli.records import run_document
from plait.cli.save import Expected, saved_facts
from plait.cli.session import do
from plait.dialects.refs.names import NAME
from plait.dialects.refs.recording.draft import Draft
from plait.dialects.refs.recordings import RECORDING, Recordings
from plait.kernel.errors import Conflict
from plait.kernel.ids import caller_id
from plait.kernel.store import RunFilter, RunRow

from .draft_view import say_draft

record = group()
_PATIENCE = 10.0
"""Seconds to wait for an engine to take a request, which is durable before that."""

Recording = Annotated[str, typer.Argument(metavar="RUN", help="The recording.", show_default=False)]
Include = Annotated[list[str] | None, typer.Option("--include", metavar="STEP", help="Keep this step; repeatable.")]
Exclude = Annotated[list[str] | None, typer.Option("--exclude", metavar="STEP", help="Leave it out; repeatable.")]
Accept = Annotated[
    list[str] | None,
    typer.Option("--accept", metavar="ID", help="Apply a suggestion; repeatable. `high`: all that are 80 % sure."),
]
Rename = Annotated[list[str] | None, typer.Option("--rename", metavar="OLD=NEW", help="Rename a step; repeatable.")]
Order = Annotated[
    Literal["effects", "data"],
    typer.Option("--order", help="`data`: steps wait only for what they refer to, also where they change something."),
]
Output = Annotated[
    str | None,
    typer.Option("--output", metavar="JSON", help="Its output, with references; @file reads a file."),
]
InputSchema = Annotated[
    str | None,
    typer.Option("--input-schema", metavar="JSON", help="Instead of the inferred one; @file reads a file."),
]
RunId = Annotated[str | None, typer.Option("--id", metavar="ID", help="The run's id.", show_default="generated")]
Title = Annotated[str, typer.Option("--title", metavar="TEXT", help="For people.", show_default=False)]


@record.callback(invoke_without_command=True)
def default(
    ctx: typer.Context,
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """Record tool calls as a workflow. Calls come from an MCP client: see `plait mcp --record`. Without a command: list
    the open recordings."""
    if ctx.invoked_subcommand is None:
        rows = do(_open_recordings(Where(db, key, namespace)))
        if json:
            emit([run_document(row) for row in rows])
        elif rows:
            table(("RECORDING", "TITLE"), [(caller_id(row.id), row.definition) for row in rows], fold=("TITLE",))
        else:
            say("no open recordings; `plait record start` makes one")


async def _open_recordings(where: Where) -> list[RunRow]:
    async with connect(where) as session:
        labels = {RECORDING: "yes"}
        query = RunFilter(namespace=session.namespace, dialect=NAME, status="running", labels=labels, limit=200)
        return await session.engine.runs(query)


@record.command()
def start(
    input: Annotated[
        list[str] | None, typer.Option("--input", "-i", metavar="NAME=VALUE", help="What calls may refer to as @input.")
    ] = None,
    server: Annotated[
        list[str] | None, typer.Option("--server", metavar="NAME", help="Only tools of this server; repeatable.")
    ] = None,
    title: Title = "",
    id: RunId = None,
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """Start a recording. It waits for tool calls until it is stopped."""
    where = Where(db, key, namespace)

    async def starting() -> str:
        async with _recordings(where, create=True) as recordings:
            return await recordings.start(read_inputs(input or []), server, title=title, id=id)

    run = do(starting())
    if json:
        emit({"id": run})
    else:
        say(f"recording {run} is open")
        say(f"  its tools: plait mcp --record {run}, or /mcp/record/{run} of a server", "bright_black")


@record.command()
def stop(
    run: Recording,
    output: Output = None,
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """Complete a recording. Its output is the one given, or that of the last call that succeeded."""
    where = Where(db, key, namespace)
    given = {} if output is None else {"output": read_json(output, "the output")}

    async def stopping() -> Any:
        async with _recordings(where) as recordings:
            return await recordings.stop(run, **given, wait=_PATIENCE)

    found = _answered(run, stopping())
    if json:
        emit({"id": run, "output": found})
    else:
        say(f"recording {run} is complete; `plait record draft {run}` shows it as a workflow")


@record.command()
def preset(
    run: Recording,
    step: Annotated[str, typer.Argument(metavar="STEP", help="Its name; `input`: the input.", show_default=False)],
    output: Annotated[str, typer.Argument(metavar="JSON", help="The result; @file reads a file.", show_default=False)],
    tool: Annotated[str, typer.Option("--tool", metavar="NAME", help="The tool that would give it.")] = "",
    input: Annotated[
        list[str] | None, typer.Option("--input", "-i", metavar="NAME=VALUE", help="What it would be called with.")
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Also if the step has a result.")] = False,
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """Set the result of a step without calling a tool."""
    where, value = Where(db, key, namespace), read_json(output, "the result")

    async def setting() -> str:
        async with _recordings(where) as recordings:
            given = read_inputs(input or [])
            return await recordings.preset(run, step, value, tool=tool, input=given, replace=replace, wait=_PATIENCE)

    name = _answered(run, setting())
    if json:
        emit({"id": run, "stepName": name})
    else:
        say(f"recording {run}: {name} is set")


@record.command()
def draft(
    run: Recording,
    include: Include = None,
    exclude: Exclude = None,
    accept: Accept = None,
    rename: Rename = None,
    order: Order = "effects",
    output: Output = None,
    input_schema: InputSchema = None,
    title: Title = "",
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """Show what a recording would be as a workflow: its steps, suggestions and problems. Changes nothing."""
    where = Where(db, key, namespace)
    options = _options(include, exclude, accept, rename, order, output, input_schema, title)

    async def drafting() -> Draft:
        async with _recordings(where) as recordings:
            return await recordings.draft(run, **options)

    found = do(drafting())
    if json:
        emit(found)
    else:
        say_draft(found)
    if found.errors:
        raise typer.Exit(exits.FAILED)


@record.command()
def save(
    run: Recording,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name to start it by.", show_default=False)],
    include: Include = None,
    exclude: Exclude = None,
    accept: Accept = None,
    rename: Rename = None,
    order: Order = "effects",
    output: Output = None,
    input_schema: InputSchema = None,
    title: Title = "",
    breaking: Annotated[bool, typer.Option("--breaking", help="Take the next major version.")] = False,
    expected: Expected = None,
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """Save a recording as a workflow, to be started with `plait run NAME`."""
    where = Where(db, key, namespace)
    options = _options(include, exclude, accept, rename, order, output, input_schema, title)

    async def saving() -> tuple[str, list[str]]:
        async with _recordings(where) as recordings:
            return saved_facts(await recordings.save(run, name, breaking=breaking, expected=expected, **options))

    version, warnings = do(saving())
    if json:
        emit(document(name=name, version=version, warnings=warnings))
        return
    for warning in warnings:
        note(f"warning: {warning}")
    say(f"saved {name}@{version}")


def _options(
    include: list[str] | None,
    exclude: list[str] | None,
    accept: list[str] | None,
    rename: list[str] | None,
    order: str,
    output: str | None,
    input_schema: str | None,
    title: str,
) -> dict[str, Any]:
    """The options that were given."""
    found: dict[str, Any] = {
        "include": include or [],
        "exclude": exclude or [],
        "accept": "high" if accept == ["high"] else accept or [],
        "rename": read_pairs(rename or [], "--rename"),
        "order": order,
        "title": title,
    }
    if output is not None:
        found["output"] = read_json(output, "the output")
    if input_schema is not None:
        found["input_schema"] = read_json(input_schema, "the schema")
    return found


@asynccontextmanager
async def _recordings(where: Where, *, create: bool = False) -> AsyncGenerator[Recordings]:
    async with connect(where, create=create) as session:
        yield cast("Any", session.engine).recordings.of(session.namespace)


def _answered(run: str, asking: Any) -> Any:
    try:
        return do(asking)
    except TimeoutError:
        raise Conflict(
            "cli.no_answer",
            f"no engine has answered for recording {run}",
            why="what it was told is durable, and is taken when an engine runs",
            fix="start one: plait serve",
        ) from None
