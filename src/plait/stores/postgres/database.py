"""Connecting to PostgreSQL: the address, the schema version, and errors a person can act on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

import asyncpg

from plait.kernel.errors import InvalidInput, Unavailable
from plait.stores import statements

from .online_steps import NO_LIMIT, Connection, at_once, expands, make_steps, steps_of

SQL = statements.load("plait.stores.postgres", "statements.sql")
_MIGRATIONS = list(statements.load("plait.stores.postgres", "migrations.sql").items())

CONNECT_SECONDS = 10.0
COMMAND_SECONDS = 30.0
_LOCK_PAUSE = 0.1
_UNREACHABLE = "store.unreachable"
_CHECK_SERVER = "check that the server runs and the address is right"

Fill = Callable[[Connection], Awaitable[None]]

_SETTINGS = {
    "jit": "off",
    # An engine that is frozen in the middle of a transaction must not hold row locks for ever.
    "idle_in_transaction_session_timeout": "10s",
}

AWAY = (
    OSError,
    TimeoutError,
    asyncio.IncompleteReadError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.TooManyConnectionsError,
)
"""Errors when the server is unavailable, disconnects, or accepts no more connections."""

BROKEN = (
    asyncpg.PostgresSystemError,
    asyncpg.InternalServerError,
    asyncpg.InvalidSchemaNameError,
    asyncpg.UndefinedTableError,
)
"""Errors when the server has disk trouble, or our tables were dropped."""


@dataclass(frozen=True, slots=True)
class Address:
    url: str

    def __str__(self) -> str:
        """The address for messages, without secrets."""
        try:
            parts = urlsplit(self.url)
            place = parts.netloc.rpartition("@")[2]
        except ValueError:
            return "an unreadable address"
        if "@" in f"{parts.path}{parts.query}{parts.fragment}":  # perhaps of a password that was not quoted
            return "an unreadable address"
        return f"{place or 'the local server'}{parts.path}"


async def connect(address: Address, settings: dict[str, str]) -> Connection:
    with readable_errors(address):
        try:
            return await asyncpg.connect(
                address.url,
                timeout=CONNECT_SECONDS,
                command_timeout=COMMAND_SECONDS,
                server_settings={**_SETTINGS, **settings},
            )
        except ValueError:
            raise InvalidInput(
                "store.bad_address",
                "the address of the PostgreSQL server can't be used",
                why="it is not well formed",
                fix="write postgresql://user:password@host:5432/database",
            ) from None  # its text may quote a part of the password


@dataclass(frozen=True, slots=True)
class SchemaState:
    """The progress of a schema's migrations."""

    made: int
    """Complete migrations."""
    step: int
    """Completed steps of the next one."""


async def migrate(connection: Connection, address: Address, after: Mapping[str, Fill]) -> None:
    """Migrates the database to the newest schema; raises if this Plait can't work on it. `after` has further work to do
    after a migration's statements. There is no time limit: a large database takes minutes."""
    if _is_ready(await schema_state(connection, address)):
        return
    while not await connection.fetchval(SQL["lock_schema"]):  # noqa: ASYNC110 -- who waits in a statement is in the way
        await asyncio.sleep(_LOCK_PAUSE)  # of indexes that are built concurrently
    try:
        state = await schema_state(connection, address)  # read again: another process may have been first
        if state is None:
            async with connection.transaction():
                await _make_room(connection)
                await _make_all(connection, after)
        elif (await _versions(connection))[1] is None:
            async with connection.transaction():
                await connection.execute(SQL["add_made"])
                await connection.execute(SQL["copy_made"])
        while not _is_ready(state := await schema_state(connection, address)):
            assert state is not None
            await _make_next(connection, state, after)
    finally:
        with suppress(*AWAY):  # otherwise the lock ends with the connection
            await connection.execute(SQL["unlock_schema"])


def _is_ready(state: SchemaState | None) -> bool:
    return state is not None and state.made >= len(_MIGRATIONS)


async def _make_all(connection: Connection, after: Mapping[str, Fill], version: int | None = None) -> None:
    """Runs all migrations of a new database, or the first `version` of them; in the caller's transaction."""
    for name, script in _MIGRATIONS[:version]:
        await connection.execute(at_once(script), timeout=NO_LIMIT)
        if name in after:
            await after[name](connection)
    await _set_version(connection, len(_MIGRATIONS[:version]))


async def _make_next(connection: Connection, state: SchemaState, after: Mapping[str, Fill]) -> None:
    """Runs one migration with steps, or all that come before it in one transaction."""
    _, script = _MIGRATIONS[state.made]
    if steps := steps_of(script):
        await make_steps(connection, steps, state.step)
        await _set_version(connection, state.made + 1)
        return
    async with connection.transaction():
        for place, (name, script) in enumerate(_MIGRATIONS[state.made :], start=state.made + 1):
            if steps_of(script):
                return
            await connection.execute(script, timeout=NO_LIMIT)
            if name in after:
                await after[name](connection)
            await _set_version(connection, place)


async def _set_version(connection: Connection, made: int) -> None:
    """Sets the version. Earlier releases read one number only: the last migration that they must know."""
    needed = max((n for n, (_, script) in enumerate(_MIGRATIONS[:made], start=1) if not expands(script)), default=0)
    await connection.execute(SQL["set_version"], needed, made)


async def schema_state(connection: Connection, address: Address) -> SchemaState | None:
    """The state of the schema; None if Plait has not been set up."""
    found = await connection.fetchrow(SQL["find_schema"])
    assert found is not None
    versioned, relations, _ = found
    if not versioned and relations:
        raise Unavailable(
            "store.not_plait",
            f"the schema `plait` of {address} holds another program's tables",
            fix="use another database; this one is untouched",
        )
    if not versioned:
        return None
    needed, made, step = await _versions(connection)
    if needed > len(_MIGRATIONS):
        raise _too_new(str(address), needed)
    return SchemaState(needed if made is None else made, step)


async def _versions(connection: Connection) -> tuple[int, int | None, int]:
    """The version, and since schema 14 the complete migrations and steps."""
    found = json.loads(await connection.fetchval(SQL["schema_version"]))
    return found["version"], found.get("made"), found.get("step", 0)


def _too_new(what: str, version: int) -> Unavailable:
    return Unavailable(
        "store.schema_too_new",
        f"{what} has schema version {version}",
        why=f"this Plait knows versions up to {len(_MIGRATIONS)}",
        fix="use the Plait release that wrote it, or a newer one",
    )


async def make_schema(connection: Connection, address: Address, version: int, after: Mapping[str, Fill]) -> None:
    """Creates a schema of a possibly older version in a database without one; in the caller's transaction."""
    if version > len(_MIGRATIONS):
        raise _too_new(f"a backup for {address}", version)
    await _make_room(connection)
    await _make_all(connection, after, version)


async def _make_room(connection: Connection) -> None:
    found = await connection.fetchrow(SQL["find_schema"])
    assert found is not None
    if not found[2]:  # an administrator may have created it for us, and not let us create one
        await connection.execute(SQL["make_schema"])
    await connection.execute(SQL["make_version"])
    await connection.execute(SQL["start_version"])


@contextmanager
def readable_errors(address: Address) -> Generator[None]:
    """Converts PostgreSQL's errors to ours: what happened, why, what to do."""
    try:
        yield
    except asyncpg.InvalidAuthorizationSpecificationError as error:  # a wrong password is one of these
        raise Unavailable(
            "store.access_denied",
            f"{address} refuses this user",
            why=str(error),
            fix="check the user and the password in the address",
        ) from error
    except asyncpg.InvalidCatalogNameError as error:
        raise Unavailable(
            "store.no_database", f"{address} does not exist", why=str(error), fix="create it: createdb <name>"
        ) from error
    except asyncpg.InsufficientPrivilegeError as error:
        raise Unavailable(
            "store.no_permission",
            f"this user may not use {address}",
            why=str(error),
            fix="let it create a schema (grant create on database …), or make one for it: "
            "create schema plait authorization <user>",
        ) from error
    except asyncpg.ReadOnlySQLTransactionError as error:
        raise Unavailable(
            "store.read_only", f"{address} can't be written", why=str(error), fix="name the primary server"
        ) from error
    except (asyncpg.DiskFullError, asyncpg.OutOfMemoryError) as error:
        raise Unavailable(
            "store.full", f"{address} has no space left", why=str(error), fix="free disk space; nothing was lost"
        ) from error
    except asyncpg.LockNotAvailableError as error:
        raise Unavailable(
            "store.locked", f"rows of {address} are locked", why=str(error), fix="end who keeps a transaction open"
        ) from error
    except asyncpg.QueryCanceledError as error:
        raise Unavailable(
            "store.too_slow",
            f"a query on {address} took too long and was cancelled",
            why=str(error),
            fix="narrow the list, by status, definition, label or time; `plait doctor` says how large the database is",
        ) from error
    except BROKEN as error:
        raise Unavailable(
            "store.unreadable", f"{address} can't be read or written", why=str(error), fix="look into the server's log"
        ) from error
    except AWAY as error:
        raise Unavailable(
            _UNREACHABLE,
            f"PostgreSQL at {address} can't be reached",
            why=_why(error),
            fix=f"{_CHECK_SERVER}; work goes on by itself when it is back",
        ) from error


@contextmanager
def without_retry() -> Generator[None]:
    """Errors for operations that end with the error, like a start: nothing retries when the server is back."""
    try:
        yield
    except Unavailable as error:
        if error.code != _UNREACHABLE:
            raise
        raise Unavailable(error.code, error.what, why=error.why, fix=_CHECK_SERVER) from error.__cause__


def _why(error: BaseException) -> str:
    """The reason of an error. If the rollback fails too, the earlier error is the reason."""
    first = error.__context__
    if isinstance(error, asyncpg.InterfaceError) and isinstance(first, AWAY):
        return _why(first)
    return str(error) or type(error).__name__
