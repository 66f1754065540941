"""Commands that only look: `runs`, `show`, `events`, `why`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer
from rich.text import Text

from plait.engine import Handle
from plait.kernel import values
from plait.kernel.events import Recorded
from plait.kernel.ids import DEFAULT_NAMESPACE, caller_id
from plait.kernel.store import RunFilter, RunRow
from plait.kernel.view import Reason

from . import advice, picture, words
from .leases import somebody_works
from .options import DEFAULT_DB, Db, Json, Namespace, RunArgument, read_pairs
from .output import console, emit, emit_line, facts, say, status_text, table
from .records import name_of, run_document, status_of, took
from .session import do, looking

Status = Literal["running", "completed", "failed", "cancelled", "blocked"]


def runs(
    status: Annotated[Status | None, typer.Option(help="Only runs that stand so.", show_default=False)] = None,
    definition: Annotated[str | None, typer.Option(metavar="NAME", help="Only runs of this workflow.")] = None,
    label: Annotated[str | None, typer.Option(metavar="KEY=VALUE", help="Only runs with this label.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many at most.")] = 20,
    namespace: Namespace = DEFAULT_NAMESPACE,
    db: Db = DEFAULT_DB,
    json: Json = False,
) -> None:
    """List runs, newest first."""
    labels = read_pairs([label], "--label") if label is not None else None
    query = RunFilter(
        namespace=namespace,
        status=status,
        definition=definition,
        labels=labels,
        limit=limit + 1,
    )
    found = do(_runs(db, query))
    shown = found[:limit]
    if json:
        emit([run_document(row, output=row.output) for row in shown])
        return
    now = words.now()
    rows = [
        (
            caller_id(row.id),
            name_of(row),
            status_text(status_of(row)),
            words.ago(row.created_at, now),
            words.duration(took(row, now)),
        )
        for row in shown
    ]
    if rows:
        table(("RUN", "WORKFLOW", "STATUS", "STARTED", "TOOK"), rows, fold=("RUN", "WORKFLOW"))
    else:
        say("no runs" if query == RunFilter(namespace=namespace, limit=limit + 1) else "no such runs")
    if len(found) > limit:
        say(f"… and more: plait runs --limit {limit * 5}", "bright_black")


async def _runs(db: str, query: RunFilter) -> list[RunRow]:
    async with looking(db) as engine:
        return await engine.runs(query)


def show(
    run: RunArgument,
    all: Annotated[bool, typer.Option("--all", help="All operations, and values in full.")] = False,
    namespace: Namespace = DEFAULT_NAMESPACE,
    db: Db = DEFAULT_DB,
    json: Json = False,
) -> None:
    """Show a run: input, operations, output."""
    do(_show(run, namespace, db, all, json))


async def _show(run: str, namespace: str, db: str, all: bool, json: bool) -> None:
    async with looking(db) as engine:
        handle = await engine.get(run, namespace)
        row, view, waiting = await handle.row(), await handle.view(), await handle.waiting()
        start = await handle.events(limit=1)
        output = await handle.result() if row.status == "completed" else None
    input = start[0].data.get("input") if start else None
    if json:
        more: dict[str, Any] = {"output": output} if row.status == "completed" else {}
        emit(run_document(row, nodes=view.nodes, edges=view.edges, waiting=waiting) | {"input": input} | more)
        return
    now = words.now()
    limit = None if all else 2_000
    facts(
        [
            ("run", caller_id(row.id)),
            ("workflow", name_of(row)),
            ("status", status_text(status_of(row))),
            ("namespace", row.namespace if row.namespace != DEFAULT_NAMESPACE else None),
            ("labels", ", ".join(f"{key}={value}" for key, value in row.labels.items()) or None),
            ("parent", caller_id(row.parent) if row.parent is not None else None),
            ("started", words.clock(row.created_at)),
            ("ended", f"{words.clock(row.ended_at)}, after {words.duration(took(row, now))}" if row.ended_at else None),
            ("deadline", words.clock(row.deadline) if row.deadline is not None else None),
            ("input", words.value(input, limit) if start else "not started yet"),
            ("output", words.value(output, limit) if row.status == "completed" else None),
            ("error", Text(f"{words.failure(row.error)} [{row.error.code}]", "red") if row.error else None),
        ]
    )
    if view.nodes:
        say()
        title = Text("operations", style="bold")
        console().print(picture.tree(view, waiting, now, title=title, few=None if all else picture.FEW))
    for reason in picture.loose(view, waiting):
        say(f"\nwaiting: {reason}")


def events(
    run: RunArgument,
    after: Annotated[int, typer.Option(metavar="N", min=0, help="Only events after number N.")] = 0,
    limit: Annotated[int | None, typer.Option(min=1, help="How many at most.", show_default=False)] = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    db: Db = DEFAULT_DB,
    json: Json = False,
) -> None:
    """Print the event log of a run; with --json, one event a line."""
    found = do(_events(run, namespace, db, after, limit))
    if json:
        for event in found:
            emit_line(event)
        return
    width = console().width
    for event in found:
        say(_event_line(event, width))
    if not found:
        say("no events" if not after else f"no events after {after}")


async def _events(run: str, namespace: str, db: str, after: int, limit: int | None) -> list[Recorded]:
    async with looking(db) as engine:
        return await (await engine.get(run, namespace)).events(after, limit)


def _event_line(event: Recorded, width: int) -> Text:
    time = words.clock(event.at).split()[1] + f".{event.at % 1000:03d}"
    text = Text.assemble((f"{event.seq:>5}  {time}  ", "bright_black"))
    text.append(event.type, style="bold")
    rest = "  ".join(f"{name}={words.value(value)}" for name, value in event.data.items())
    room = width - len(text.plain) - 2
    text.append(f"  {rest}" if len(rest) <= room else f"  {rest[: max(room - 1, 0)]}…")
    return text


def why(run: RunArgument, namespace: Namespace = DEFAULT_NAMESPACE, db: Db = DEFAULT_DB, json: Json = False) -> None:
    """Say why a run is not moving, and what to do."""
    row, waiting, untaken, working = do(_why(run, namespace, db))
    hints = advice.hints(row, waiting, working=working)
    if json:
        emit(run_document(row, waiting=waiting, untaken=untaken, working=working, fix=hints))
        return
    say(Text.assemble((caller_id(row.id), "bold"), " ", advice.standing(row)))
    for reason in waiting:
        say(f"  {reason.text}")
    if untaken:
        say(f"  told, but not taken by an engine yet: {', '.join(untaken)}")
    for hint in hints:
        say(f"→ {hint}")


async def _why(run: str, namespace: str, db: str) -> tuple[RunRow, list[Reason], list[str], bool]:
    async with looking(db) as engine:
        handle: Handle[Any] = await engine.get(run, namespace)
        row = await handle.row()
        inbox = [told for told in await engine.kernel.store.inbox([row.shard], 1000) if told.run_id == row.id]
        untaken = [str(values.decode(told.body)["kind"]) for told in inbox]
        return row, await handle.waiting(), untaken, await somebody_works(db)
