"""From `--db` to a session: with a database, or with a server."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager

from plait.kernel.ids import DEFAULT_NAMESPACE

from .contract import Session
from .database import DatabaseSession
from .options import Where
from .session import Keys, is_server, looking


@asynccontextmanager
async def connect(where: Where, definitions: Iterable[object] = (), *, create: bool = False) -> AsyncGenerator[Session]:
    """`definitions` are known besides those of a database. `create`: one that is not there is made."""
    if is_server(where.url):
        from .server import served  # what speaks HTTP is loaded where it is needed

        async with served(where) as session:
            yield session
        return
    keys = Keys()
    async with looking(where.url, definitions, keys, create=create) as engine:
        yield DatabaseSession(where.url, engine, where.namespace or DEFAULT_NAMESPACE, keys)
