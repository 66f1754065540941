"""Commands that inspect runs: `runs`, `show`, `events`, `why`."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Any, Literal, cast

import msgspec.structs
import typer
from rich.text import Text

from plait.api.picture import Picture
from plait.kernel.events import Recorded
from plait.kernel.ids import DEFAULT_NAMESPACE, caller_id
from plait.kernel.store import RunFilter, RunRow

from . import advice, run_view, words
from .connect import connect, opened
from .contract import Run
from .extensions import extension_of
from .options import DEFAULT_DB, Follow, Json, Key, Namespace, Place, RunArgument, Where, read_pairs
from .output import console, emit, emit_line, facts, flush, say, status_text, table
from .records import cause_words, name_of, note_of, run_document, status_of, took
from .session import do

Status = Literal["running", "waiting", "blocked", "completed", "failed", "cancelled"]


def runs(
    status: Annotated[Status | None, typer.Option(help="Filter by status.", show_default=False)] = None,
    definition: Annotated[str | None, typer.Option(metavar="NAME", help="Filter by definition.")] = None,
    label: Annotated[str | None, typer.Option(metavar="KEY=VALUE", help="Filter by label.")] = None,
    stalled: Annotated[
        bool, typer.Option("--stalled", help="Only stalled runs: no event, and nothing to wait for.")
    ] = False,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Show at most N.")] = 20,
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """List runs, newest first."""
    labels = read_pairs([label], "--label") if label is not None else None
    query = RunFilter(status=status, definition=definition, labels=labels, limit=limit + 1, stalled=stalled)
    found = do(_runs(Where(db, key, namespace), query))
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
            Text(words.brief(note_of(row)), "red" if row.status == "failed" else "bright_black"),
        )
        for row in shown
    ]
    if rows:
        table(("RUN", "WORKFLOW", "STATUS", "STARTED", "TOOK", "WHY"), rows, fold=("RUN", "WORKFLOW", "WHY"))
    else:
        say("no runs" if query == RunFilter(limit=limit + 1) else "no such runs")
    if len(found) > limit:
        say(f"… and more: plait runs --limit {limit * 5}", "bright_black")


async def _runs(where: Where, query: RunFilter) -> list[RunRow]:
    async with connect(where) as session:
        return await session.engine.runs(msgspec.structs.replace(query, namespace=session.namespace))


def show(
    run: RunArgument,
    all: Annotated[bool, typer.Option("--all", help="All operations, and values in full.")] = False,
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """Show a run: input, operations, output."""
    found = do(_picture(run, Where(db, key, namespace)))
    if json:
        _emit(found)
    else:
        _say(found, all=all)


async def _picture(run: str, where: Where) -> Picture:
    async with opened(where, run) as handle:
        return await handle.picture()


def _emit(found: Picture) -> None:
    row, view = found.row, found.view
    more: dict[str, Any] = {"output": found.output} if row.status == "completed" else {}
    shown = {"nodes": view.nodes, "edges": view.edges, "details": view.details, "waiting": found.waiting}
    emit(run_document(row, **shown) | {"input": found.input} | more)


def _say(found: Picture, *, all: bool) -> None:
    row, view = found.row, found.view
    now = words.now()
    limit = None if all else 2_000
    cause = cause_words(row)
    facts(
        [
            ("run", caller_id(row.id)),
            (extension_of(row.dialect).noun, name_of(row)),
            ("status", status_text(status_of(row))),
            ("namespace", row.namespace if row.namespace != DEFAULT_NAMESPACE else None),
            ("labels", ", ".join(f"{key}={value}" for key, value in row.labels.items()) or None),
            ("parent", caller_id(row.parent) if row.parent is not None else None),
            ("forked from", _source(row)),
            ("started", words.clock(row.created_at)),
            ("ended", f"{words.clock(row.ended_at)}, after {words.duration(took(row, now))}" if row.ended_at else None),
            ("tried again", words.counted(row.past.reopened, "time") if row.past and row.past.reopened else None),
            ("agents", words.model_use(view.agents) if view.agents is not None else None),
            ("deadline", words.clock(row.deadline) if row.deadline is not None else None),
            ("erased", _erasure(row)),
            ("input", _input(found, limit)),
            ("output", words.value(found.output, limit) if row.status == "completed" and not row.erased_at else None),
            ("cause", Text(cause, "red") if cause is not None else None),
            ("error", Text(f"{words.failure(row.error)} [{row.error.code}]", "red") if row.error else None),
        ]
    )
    if view.nodes:
        say()
        title = Text("operations", style="bold")
        console().print(run_view.tree(view, found.waiting, now, title=title, few=None if all else run_view.FEW))
    for reason in run_view.loose(view, found.waiting):
        say(f"\nwaiting: {reason}")
    if view.details is not None:
        extension_of(row.dialect).say_details(view.details, limit)


def _erasure(row: RunRow) -> str | None:
    if row.erased_at is None:
        return None
    return f"{words.clock(row.erased_at)}: its values can't be read any more"


def _input(found: Picture, limit: int | None) -> str | None:
    if found.row.erased_at is not None:
        return None
    return words.value(found.input, limit) if found.seq else "not started yet"


def _source(row: RunRow) -> str | None:
    if row.past is None or row.past.source is None:
        return None
    return f"{caller_id(row.past.source)}, after event {row.past.shared}"


def events(
    run: RunArgument,
    after: Annotated[int, typer.Option(metavar="N", min=0, help="Only events after number N.")] = 0,
    limit: Annotated[int | None, typer.Option(min=1, help="Show at most N.", show_default=False)] = None,
    follow: Follow = False,
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """Print the event log of a run; with --json, one event per line."""
    if do(_events(run, Where(db, key, namespace), after, limit, follow=follow, json=json)) or json:
        return
    say("no events" if not after else f"no events after {after}")


async def _events(run: str, where: Where, after: int, limit: int | None, *, follow: bool, json: bool) -> int:
    """Prints events as they arrive; returns how many there were."""
    width, count = console().width, 0
    async with opened(where, run) as handle, aclosing(_batches(handle, after, limit, follow=follow)) as batches:
        async for batch in batches:
            for event in batch:
                emit_line(event) if json else say(_event_line(event, width))
            count += len(batch)
            flush()
    return count


async def _batches(run: Run, after: int, limit: int | None, *, follow: bool) -> AsyncGenerator[list[Recorded]]:
    if not follow:
        yield await run.events(after, limit)
        return
    async with aclosing(cast("AsyncGenerator[list[Recorded]]", run.follow(after))) as batches:
        async for batch in batches:
            yield batch[:limit]
            limit = None if limit is None else limit - len(batch)
            if limit is not None and limit <= 0:
                return


_LAST = ("token", "attempt", "index")
"""Fields that are for programs: a line is cut at its end."""


def _event_line(event: Recorded, width: int) -> Text:
    time = words.clock(event.at).split()[1] + f".{event.at % 1000:03d}"
    text = Text.assemble((f"{event.seq:>5}  {time}  ", "bright_black"))
    text.append(event.type, style="bold")
    fields = sorted(event.data.items(), key=lambda field: field[0] in _LAST)
    rest = "  ".join(f"{name}={words.value(value)}" for name, value in fields)
    room = width - len(text.plain) - 2
    text.append(f"  {rest}" if len(rest) <= room else f"  {rest[: max(room - 1, 0)]}…")
    return text


def why(
    run: RunArgument, namespace: Namespace = None, db: Place = DEFAULT_DB, key: Key = None, json: Json = False
) -> None:
    """Explain why a run is not moving, and what to do."""
    found, untaken, working = do(_why(run, Where(db, key, namespace)))
    row, waiting = found.row, found.waiting
    hints = advice.hints(row, waiting, found.actions, working=working) + advice.compensation_hints(found.view)
    if json:
        emit(run_document(row, waiting=waiting, untaken=untaken, working=working, fix=hints))
        return
    say(Text.assemble((caller_id(row.id), "bold"), " ", advice.standing(row)))
    for reason in waiting:
        say(f"  {reason.text}")
    if untaken:
        say(f"  sent, but not taken by an engine yet: {', '.join(untaken)}")
    for hint in hints:
        say(f"→ {hint}")


async def _why(run: str, where: Where) -> tuple[Picture, list[str], bool | None]:
    async with connect(where) as session:
        handle = await session.engine.get(run, session.namespace)
        return await handle.picture(), await session.untaken(handle), await session.working()
