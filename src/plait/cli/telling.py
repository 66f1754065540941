"""Commands that tell a run something: `cancel`, `retry`, `fork`, `message`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from plait.kernel.errors import Conflict
from plait.kernel.ids import DEFAULT_NAMESPACE, caller_id
from plait.kernel.store import RunRow

from .options import DEFAULT_DB, Db, Json, Namespace, RunArgument, read_edits, read_json
from .session import do
from .told import key_of, report, teller


def cancel(
    run: RunArgument,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why; kept with the run.", show_default=False)] = "",
    compensate: Annotated[bool, typer.Option("--compensate", help="First undo what its steps did.")] = False,
    namespace: Namespace = DEFAULT_NAMESPACE,
    db: Db = DEFAULT_DB,
    json: Json = False,
) -> None:
    """End a run. What its steps did stays done, unless --compensate undoes it."""
    do(_cancel(run, reason, compensate, namespace, db, json))


async def _cancel(run: str, reason: str, compensate: bool, namespace: str, db: str, json: bool) -> None:
    async with teller(db) as telling:
        handle = await telling.engine.get(run, namespace)
        _must_run(await handle.row(), "be cancelled")
        taken = await telling.told(key_of(handle, namespace), handle.cancel(reason, compensate))
        what = f"run {handle.id}: cancel" + (", and undo what was done" if compensate else "")
        await report(handle, what, taken, json=json)


def retry(
    run: RunArgument,
    at: Annotated[
        str | None, typer.Option("--from", metavar="PATH", help="Do this operation and all after it again.")
    ] = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    db: Db = DEFAULT_DB,
    json: Json = False,
) -> None:
    """Go on with a failed or blocked run: what failed is tried again, what succeeded is not. With --from, the run
    is taken back to before that operation; nothing outside is undone."""
    do(_retry(run, at, namespace, db, json))


async def _retry(run: str, at: str | None, namespace: str, db: str, json: bool) -> None:
    async with teller(db) as telling:
        handle = await telling.engine.get(run, namespace)
        row = await handle.row()
        if at is None and row.status in ("completed", "cancelled"):
            raise Conflict(
                "cli.nothing_to_retry",
                f"run {handle.id} has not failed",
                why=f"it {'was' if row.status == 'cancelled' else 'has'} {row.status}",
                fix=f"to do a part of it again: plait retry {handle.id} --from PATH, or plait fork {handle.id}",
            )
        taken = await telling.told(key_of(handle, namespace), handle.retry(at))
        await report(handle, f"run {handle.id}: retry" + (f" from {at}" if at else ""), taken, json=json)


def fork(
    run: RunArgument,
    at: Annotated[
        str | None,
        typer.Option(metavar="N|PATH", help="After event N, or before the operation PATH.", show_default="the end"),
    ] = None,
    set: Annotated[
        list[str] | None, typer.Option(metavar="PATH=JSON", help="Another result for a finished operation; repeatable.")
    ] = None,
    id: Annotated[str | None, typer.Option(metavar="ID", help="The id of the new run.", show_default="made")] = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    db: Db = DEFAULT_DB,
    json: Json = False,
) -> None:
    """Start a new run with the past of another: the same up to --at, then its own way."""
    do(_fork(run, at, read_edits(set or []), id, namespace, db, json))


async def _fork(
    run: str, at: str | None, edits: dict[str, Any], id: str | None, namespace: str, db: str, json: bool
) -> None:
    async with teller(db) as telling:
        source = await telling.engine.get(run, namespace)
        place = int(at) if at is not None and at.isdecimal() else at
        fork = await source.fork(place, edits, id)
        taken = await telling.taken(key_of(fork, namespace), "~fork")
        await report(fork, f"run {fork.id}: a fork of {source.id}", taken, json=json, forked_from=source.id)


def message(
    run: RunArgument,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The message's name.", show_default=False)],
    body: Annotated[
        str, typer.Argument(metavar="[JSON]", help="Its body; @file reads a file.", show_default=False)
    ] = "null",
    message_id: Annotated[
        str | None, typer.Option(metavar="KEY", help="The same key twice is one message.", show_default="made")
    ] = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    db: Db = DEFAULT_DB,
    json: Json = False,
) -> None:
    """Send a message to a run. It is kept until the run listens for it."""
    do(_message(run, name, read_json(body, "the message's body"), message_id, namespace, db, json))


async def _message(run: str, name: str, body: Any, message_id: str | None, namespace: str, db: str, json: bool) -> None:
    async with teller(db) as telling:
        handle = await telling.engine.get(run, namespace)
        key = await handle.message(name, body, message_id)
        taken = await telling.taken(key_of(handle, namespace), key)
        await report(handle, f"run {handle.id}: message `{name}` sent", taken, json=json, message_id=key)


def _must_run(row: RunRow, what: str) -> None:
    if row.status != "running":
        raise Conflict(
            "RUN_FINISHED",
            f"run {caller_id(row.id)} can't {what}",
            why=f"it {'was' if row.status == 'cancelled' else 'has'} {row.status}",
            fix="nothing needs to be done",
        )
