"""Who works on a database: the engines that hold its shards.

The store's contract has no word for this yet, so the one statement that is needed is sent here.
"""

# apsw's types name `collections.abc.Buffer`, which Python 3.11 does not have.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from typing import Any, cast

from plait.kernel.ids import Millis

from . import words
from .session import sqlite_file

_OWNERS = "select owner, count(*), max(expires) from {table} where owner is not null group by owner order by owner"


@dataclass(frozen=True, slots=True)
class Owner:
    name: str
    """`host-pid-key`, see `Engine`."""
    shards: int
    expires: Millis

    @property
    def pid(self) -> int | None:
        """Of a process on this machine."""
        host, _, rest = self.name.rpartition("-")[0].rpartition("-")
        return int(rest) if host == socket.gethostname() and rest.isdigit() else None

    def alive(self, now: Millis) -> bool:
        """A killed process holds its lease until that runs out; on this machine we can see that it is gone."""
        return self.expires > now and (self.pid is None or _runs(self.pid))


async def owners(db: str) -> list[Owner]:
    path = sqlite_file(db)
    rows = _from_sqlite(str(path)) if path is not None else await _from_postgres(db)
    return [Owner(*row) for row in rows]


async def somebody_works(db: str) -> bool:
    return any(owner.alive(words.now()) for owner in await owners(db))


def _from_sqlite(path: str) -> list[Any]:
    import apsw

    from plait.stores.sqlite.database import readable_errors

    with readable_errors(path):
        db = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
        try:
            db.set_busy_timeout(5_000)
            return cast("list[Any]", db.execute(_OWNERS.format(table="shards")).fetchall())
        finally:
            db.close()


async def _from_postgres(db: str) -> list[Any]:
    import asyncpg

    connection: Any = await asyncpg.connect(db)
    try:
        return [tuple(row) for row in await connection.fetch(_OWNERS.format(table="plait.shards"))]
    finally:
        await connection.close()


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
