"""Connecting to PostgreSQL: the address, the schema version, and errors a person can act on."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import urlsplit

import asyncpg

from plait.kernel.errors import InvalidInput, Unavailable
from plait.stores import statements

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"

SQL = statements.load("plait.stores.postgres", "statements.sql")
_MIGRATIONS = list(statements.load("plait.stores.postgres", "migrations.sql").items())

CONNECT_SECONDS = 10.0
COMMAND_SECONDS = 30.0
NO_LIMIT = 7 * 86_400.0
"""Seconds: asyncpg takes None for its own default."""

Fill = Callable[[Connection], Awaitable[None]]

_SETTINGS = {
    "jit": "off",
    # An engine that is frozen in the middle of a transaction must not keep rows from others for ever.
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
"""What a call meets when the server is away, goes away meanwhile, or takes no more connections."""

BROKEN = (
    asyncpg.PostgresSystemError,
    asyncpg.InternalServerError,
    asyncpg.InvalidSchemaNameError,
    asyncpg.UndefinedTableError,
)
"""What a call meets when the server has trouble with its disk, or somebody dropped our tables."""


@dataclass(frozen=True, slots=True)
class Address:
    url: str

    def __str__(self) -> str:
        """For messages: where it is, and nothing that may be secret."""
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


async def migrate(connection: Connection, address: Address, after: Mapping[str, Fill]) -> None:
    """Brings the database to the newest schema; refuses one that a newer Plait wrote. `after` says what else is to
    be done once a migration's statements are. There is no limit of time: a large database takes minutes."""
    if await schema_version(connection, address) == len(_MIGRATIONS):
        return
    async with connection.transaction():
        await connection.execute(SQL["lock_schema"], timeout=NO_LIMIT)
        version = await schema_version(connection, address)  # read again: another process may have been first
        if version is None:
            await _make_room(connection)
            version = 0
        for name, script in _MIGRATIONS[version:]:
            await connection.execute(script, timeout=NO_LIMIT)
            if name in after:
                await after[name](connection)
        await connection.execute(SQL["set_version"], len(_MIGRATIONS))


async def schema_version(connection: Connection, address: Address) -> int | None:
    """None where there is no Plait yet."""
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
    version = int(await connection.fetchval(SQL["schema_version"]))
    if version > len(_MIGRATIONS):
        raise _too_new(str(address), version)
    return version


def _too_new(what: str, version: int) -> Unavailable:
    return Unavailable(
        "store.schema_too_new",
        f"{what} has schema version {version}",
        why=f"this Plait knows versions up to {len(_MIGRATIONS)}",
        fix="use the Plait release that wrote it, or a newer one",
    )


async def make_schema(connection: Connection, address: Address, version: int) -> None:
    """Of a version that may be older, in a database that has none; in a transaction of the caller's."""
    if version > len(_MIGRATIONS):
        raise _too_new(f"a backup for {address}", version)
    await _make_room(connection)
    for _, script in _MIGRATIONS[:version]:
        await connection.execute(script, timeout=NO_LIMIT)
    await connection.execute(SQL["set_version"], version)


async def _make_room(connection: Connection) -> None:
    found = await connection.fetchrow(SQL["find_schema"])
    assert found is not None
    if not found[2]:  # an administrator may have made it for us, and not let us make one
        await connection.execute(SQL["make_schema"])
    await connection.execute(SQL["make_version"])
    await connection.execute(SQL["start_version"])


@contextmanager
def readable_errors(address: Address) -> Generator[None]:
    """PostgreSQL's errors as ours: what happened, why, what to do."""
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
    except BROKEN as error:
        raise Unavailable(
            "store.unreadable", f"{address} can't be read or written", why=str(error), fix="look into the server's log"
        ) from error
    except AWAY as error:
        raise Unavailable(
            "store.unreachable",
            f"PostgreSQL at {address} can't be reached",
            why=str(error) or type(error).__name__,
            fix="check that the server runs and the address is right; work goes on by itself when it is back",
        ) from error
