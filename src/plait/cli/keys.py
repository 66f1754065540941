"""`plait keys`: API keys of the server, managed directly on the database, so that the first key needs no other. The
keys that encrypt values are in `encryption_keys`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, NamedTuple

import msgspec
import typer
from rich.text import Text

from plait.api.caller import EVERYWHERE
from plait.api.key import Key
from plait.kernel.ids import DEFAULT_NAMESPACE, Millis, check_namespace
from plait.registry.engine import Engine
from plait.server.auth import Keys
from plait.workers.redis.signing_keys import SigningKey, SigningKeys

from . import encryption_keys, words
from .audited import note_change
from .options import DEFAULT_DB, Db, Json, group
from .output import emit, note, say, table
from .session import do, looking, must_exist, refuse_server, sqlite_file

keys = group()
for _command in (encryption_keys.master, encryption_keys.data, encryption_keys.rotate):
    keys.command()(_command)

Owned = Annotated[str, typer.Option("--namespace", "-n", metavar="NAME", help="The key's; '*' for all of them.")]
Only = Annotated[
    str | None, typer.Option("--namespace", "-n", metavar="NAME", help="Keys of one namespace.", show_default=False)
]
_DAY = 86_400


class Quota(NamedTuple):
    """The limits on what a key may start; None: no limit."""

    start_rate: int | None
    max_running: int | None


@keys.callback(invoke_without_command=True)
def default(ctx: typer.Context, db: Db = DEFAULT_DB, json: Json = False) -> None:
    """API keys of the server, and the keys that encrypt values. Without a command: list API keys."""
    if ctx.invoked_subcommand is None:
        _show(do(_all(db, None)), json=json)


@keys.command()
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name: who or what will use it.", show_default=False)],
    role: Annotated[
        str, typer.Option(metavar="ROLE", help="viewer, operator, editor, approver, worker, agent or admin.")
    ] = "viewer",
    namespace: Owned = DEFAULT_NAMESPACE,
    queue: Annotated[
        list[str] | None,
        typer.Option(metavar="QUEUE", help="For a worker: a queue it may serve; default all.", show_default=False),
    ] = None,
    facet: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="For an agent: its facets (geo.*); default all.", show_default=False),
    ] = None,
    pii: Annotated[bool, typer.Option("--pii", help="Grant pii:read: may see personal values.")] = False,
    start_rate: Annotated[
        int | None, typer.Option(metavar="N", help="Runs it may start per second.", show_default="no limit")
    ] = None,
    max_running: Annotated[
        int | None, typer.Option(metavar="N", help="Its active runs at once.", show_default="no limit")
    ] = None,
    days: Annotated[
        float | None, typer.Option(metavar="DAYS", help="How long it is valid; default until revoked.")
    ] = None,
    db: Db = DEFAULT_DB,
    json: Json = False,
) -> None:
    """Create a key. It is printed once, and can't be shown again."""
    quota = Quota(start_rate, max_running)
    key, text = do(_create(db, name, role, namespace, days, queue or None, facet or None, quota, pii=pii))
    if json:
        emit(msgspec.to_builtins(key) | {"key": text})
        return
    say(text)
    until = f"until {words.clock(key.expires_at)}" if key.expires_at is not None else "until it is revoked"
    limits = key.queues or key.facets
    serves = f" on {', '.join(limits)}" if limits else ""
    note(f"key {key.id} for {key.name}: {key.role} in {_where(key)}{serves}, {until}{_quota(key)}")
    note("keep it now: it can't be shown again", "yellow")


@keys.command("list")
def list_(namespace: Only = None, db: Db = DEFAULT_DB, json: Json = False) -> None:
    """List keys, newest first; the keys themselves are not shown."""
    _show(do(_all(db, namespace)), json=json)


@keys.command()
def revoke(
    key: Annotated[str, typer.Argument(metavar="ID", help="The key.", show_default=False)],
    db: Db = DEFAULT_DB,
    json: Json = False,
) -> None:
    """Revoke a key and its browser sessions: within seconds, in every server."""
    found = do(_revoke(db, key))
    if json:
        emit(found)
    else:
        say(f"key {found.id} ({found.name}) is revoked")


@keys.command()
def signing(
    namespace: Annotated[
        str, typer.Option("--namespace", "-n", metavar="NAME", help="The namespace whose tasks they sign.")
    ] = DEFAULT_NAMESPACE,
    rotate: Annotated[bool, typer.Option("--rotate", help="Create a new one first.")] = False,
    db: Db = DEFAULT_DB,
    json: Json = False,
) -> None:
    """Show the keys that sign tasks on Redis: the current one, and the previous one, which is still valid."""
    found = do(_signing(db, check_namespace(namespace), rotate=rotate))
    if json:
        emit({key.id: key.secret for key in found})
        return
    now = words.now()
    rows = [(key.id, key.secret, words.ago(key.created_at, now)) for key in found]
    table(("ID", "SECRET", "MADE"), rows, fold=("SECRET",))
    note("workers need them; whoever has them can forge tasks and results", "yellow")


async def _signing(db: str, namespace: str, *, rotate: bool) -> Sequence[SigningKey]:
    async with looking(db) as engine:
        kept = SigningKeys(engine.records, engine.kernel.clock)
        ring = await (kept.rotate(namespace) if rotate else kept.ring(namespace))
        action = "keys.signing.rotate" if rotate else "keys.signing"
        await note_change(engine, action, ring.current.id, namespace)
        return ring.keys


def _show(found: list[Key], *, json: bool) -> None:
    if json:
        emit(found)
    elif found:
        now = words.now()
        rows = [(key.id, key.name, key.role, _where(key), _state(key, now), _used(key, now)) for key in found]
        table(("ID", "NAME", "ROLE", "NAMESPACE", "STATE", "USED"), rows, fold=("ID", "NAME"))
    else:
        say("no keys")


def _quota(key: Key) -> str:
    """Returns its limits on starts, if it has any."""
    starts = f", {key.start_rate:,} starts a second" if key.start_rate is not None else ""
    return starts + (f", {key.max_running:,} runs at once" if key.max_running is not None else "")


def _where(key: Key) -> str:
    return "all namespaces" if key.namespace == EVERYWHERE else key.namespace


def _state(key: Key, now: Millis) -> Text:
    if key.revoked_at is not None:
        return Text("revoked", "bright_black")
    if key.expires_at is not None and key.expires_at <= now:
        return Text("expired", "bright_black")
    return Text("good", "green")


def _used(key: Key, now: Millis) -> str:
    return "never" if key.last_used_at is None else words.ago(key.last_used_at, now)


async def _create(
    db: str,
    name: str,
    role: str,
    namespace: str,
    days: float | None,
    queues: list[str] | None,
    facets: list[str] | None,
    quota: Quota,
    *,
    pii: bool,
) -> tuple[Key, str]:
    refuse_server(db)
    if db == "memory:":
        must_exist(db)  # raises the reason
    path = sqlite_file(db)
    fresh = path is not None and not path.exists()
    async with Engine(db, work=False) as engine:  # creates a missing database: a key may come before anything else
        made = await Keys(engine.records, engine.kernel.clock).create(
            name,
            role,
            namespace,
            None if days is None else days * _DAY,
            queues,
            facets=facets,
            pii=pii,
            start_rate=quota.start_rate,
            max_running=quota.max_running,
        )
        await note_change(engine, "keys.create", made[0].id, made[0].namespace)
    if fresh:
        note(f"created a new database at {path}")
    return made


async def _all(db: str, namespace: str | None) -> list[Key]:
    async with _opened(db) as (_, kept):
        return await kept.list(namespace)


async def _revoke(db: str, id: str) -> Key:
    async with _opened(db) as (engine, kept):
        found = await kept.revoke(id)
        await note_change(engine, "keys.revoke", found.id, found.namespace)
        return found


@asynccontextmanager
async def _opened(db: str) -> AsyncGenerator[tuple[Engine, Keys]]:
    async with looking(db) as engine:
        yield engine, Keys(engine.records, engine.kernel.clock)
