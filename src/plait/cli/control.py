"""Commands that control a run: `cancel`, `compensate`, `retry`, `fork`, `message`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import typer

from plait.kernel.errors import Conflict
from plait.kernel.ids import Ids, caller_id
from plait.kernel.store import RunRow

from .acknowledgement import report
from .connect import connect
from .contract import Run
from .extensions import extension_of
from .options import DEFAULT_DB, Json, Key, Namespace, Place, RunArgument, Where, read_edits, read_json
from .output import emit, say
from .records import run_document
from .session import do
from .words import value


def cancel(
    run: RunArgument,
    reason: Annotated[
        str, typer.Option(metavar="TEXT", help="The reason; kept with the run.", show_default=False)
    ] = "",
    compensate: Annotated[bool, typer.Option("--compensate", help="Compensate its steps first.")] = False,
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """Cancel a run. Completed steps are not compensated, unless --compensate is given."""
    what = "cancel and compensate" if compensate else "cancel"
    where = Where(db, key, namespace)
    do(_tell(run, what, lambda handle: handle.cancel(reason, compensate), where, json, check=_must_run))


def compensate(
    run: RunArgument,
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """Compensate the steps of an ended run, newest first; its status does not change."""
    do(_tell(run, "compensate", lambda handle: handle.compensate(), Where(db, key, namespace), json))


def retry(
    run: RunArgument,
    at: Annotated[
        str | None, typer.Option("--from", metavar="PATH", help="Re-run this operation and all after it.")
    ] = None,
    downstream: Annotated[
        bool, typer.Option("--downstream", help="Also re-run what read values that may have changed.")
    ] = False,
    deadline: Annotated[
        float | None, typer.Option("--deadline", metavar="SECONDS", help="The run's new deadline, from now on.")
    ] = None,
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """Retry a failed or blocked run: what failed is retried, what succeeded is not. With --from, the run is
    rewound to before that operation; nothing outside is compensated."""
    scope = "downstream" if downstream else ""
    what = "retry" if at is None else f"retry from {at}"
    check = _must_have_failed if at is None else None
    do(
        _tell(
            run,
            what,
            lambda handle: handle.retry(at, scope=scope, deadline=deadline),
            Where(db, key, namespace),
            json,
            check=check,
        )
    )


def fork(
    run: RunArgument,
    at: Annotated[
        str | None,
        typer.Option(metavar="N|PATH", help="After event N, or before the operation PATH.", show_default="the end"),
    ] = None,
    set: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH=JSON", help="A different result of an operation, or a different value of an attribute."
        ),
    ] = None,
    id: Annotated[
        str | None, typer.Option(metavar="ID", help="The id of the new run.", show_default="generated")
    ] = None,
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """Start a new run with the history of another: the same up to --at, and independent after it."""
    do(_fork(run, at, read_edits(set or []), id, Where(db, key, namespace), json))


async def _fork(run: str, at: str | None, edits: dict[str, Any], id: str | None, where: Where, json: bool) -> None:
    async with connect(where) as session:
        source = await session.engine.get(run, session.namespace)
        place = int(at) if at is not None and at.isdecimal() else at
        dialect = (await source.row()).dialect
        fork = await source.fork(place, extension_of(dialect).fork_edits(edits), id)
        taken = await session.taken(fork, "~fork")
        await report(fork, f"run {fork.id}: a fork of {source.id}", taken, json=json)


def message(
    run: RunArgument,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The message's name.", show_default=False)],
    body: Annotated[
        str, typer.Argument(metavar="[JSON]", help="Its body; @file reads a file.", show_default=False)
    ] = "null",
    message_id: Annotated[
        str | None, typer.Option(metavar="KEY", help="The same key twice is one message.", show_default="generated")
    ] = None,
    wait: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", min=0.001, help="Wait for the run's answer and print it.", show_default=False),
    ] = None,
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """Send a message to a run. It is kept until the run listens for it."""
    content, where = read_json(body, "the message's body"), Where(db, key, namespace)
    if wait is None:
        do(_message(run, name, content, message_id, where, json))
    else:
        do(_ask(run, name, content, message_id or Ids().key(), wait, where, json))


async def _message(run: str, name: str, body: Any, message_id: str | None, where: Where, json: bool) -> None:
    async with connect(where) as session:
        handle = await session.engine.get(run, session.namespace)
        sent = await handle.message(name, body, message_id)
        taken = await session.taken(handle, sent)
        await report(handle, f"run {handle.id}: message `{name}` sent", taken, json=json, message_id=sent)


async def _ask(run: str, name: str, body: Any, message_id: str, wait: float, where: Where, json: bool) -> None:
    async with connect(where) as session:
        handle = await session.engine.get(run, session.namespace)
        try:
            answer = await handle.ask(name, body, message_id, wait=wait)
        except TimeoutError:
            raise Conflict(
                "cli.no_answer",
                f"run {handle.id} has not answered in {wait:g} s",
                why="the message is kept, and so is an answer that comes later",
                fix=f"ask again: plait message {handle.id} {name} --message-id {message_id} --wait {wait:g}",
            ) from None
        if json:
            emit(run_document(await handle.row(), message_id=message_id, answer=answer))
        else:
            say(value(answer))


async def _tell(
    run: str,
    what: str,
    telling: Callable[[Run], Awaitable[object]],
    where: Where,
    json: bool,
    *,
    check: Callable[[RunRow], None] | None = None,
) -> None:
    """Sends a run a request that its owner answers, unless the run's row already shows that it would be refused."""
    async with connect(where) as session:
        handle = await session.engine.get(run, session.namespace)
        if check is not None:
            check(await handle.row())
        taken = await session.told(handle, telling(handle))
        await report(handle, f"run {handle.id}: {what}", taken, json=json)


def _must_run(row: RunRow) -> None:
    if row.status != "running":
        raise Conflict("RUN_FINISHED", f"run {caller_id(row.id)} can't be cancelled", why=_ended(row))


def _must_have_failed(row: RunRow) -> None:
    if row.status in ("completed", "cancelled") and not extension_of(row.dialect).resumes_ended:
        id = caller_id(row.id)
        raise Conflict(
            "cli.nothing_to_retry",
            f"run {id} has not failed",
            why=_ended(row),
            fix=f"to re-run a part of it: plait retry {id} --from PATH, or plait fork {id}",
        )


def _ended(row: RunRow) -> str:
    return f"it {'was' if row.status == 'cancelled' else 'has'} {row.status}"
