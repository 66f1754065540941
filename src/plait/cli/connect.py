"""Opens a session for `--db`: with a database, or with a server."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager

from plait.engine.archived_store import with_archived
from plait.engine.urls import store_of
from plait.kernel.clock import SystemClock
from plait.kernel.errors import NotFound
from plait.kernel.ids import DEFAULT_NAMESPACE
from plait.stores.archive.archive import configured_archive

from .contract import Run, Session
from .database import DatabaseSession
from .options import Where
from .output import note
from .session import Keys, is_server, looking


@asynccontextmanager
async def connect(where: Where, definitions: Iterable[object] = (), *, create: bool = False) -> AsyncGenerator[Session]:
    """Opens a session. `definitions`: known in addition to those of a database. `create`: create a missing database."""
    if is_server(where.url):
        from .server import served  # HTTP code is imported only where it is needed

        async with served(where) as session:
            yield session
        return
    keys = Keys()
    async with looking(where.url, definitions, keys, create=create) as engine:
        yield DatabaseSession(where.url, engine, where.namespace or DEFAULT_NAMESPACE, keys)


@asynccontextmanager
async def opened(where: Where, run: str) -> AsyncGenerator[Run]:
    """Opens a run to inspect; if the database no longer has it, from the archive that the environment configures."""
    async with connect(where) as session:
        found = await _get(session, where, run)
        if isinstance(found, NotFound):
            missing = found
        else:
            yield found
            return
    async with _archived(where, run, missing) as archived:
        yield archived


async def _get(session: Session, where: Where, run: str) -> Run | NotFound:
    try:
        return await session.engine.get(run, session.namespace)
    except NotFound as error:
        if is_server(where.url) or configured_archive(None) is None:
            raise
        return error


@asynccontextmanager
async def _archived(where: Where, run: str, missing: NotFound) -> AsyncGenerator[Run]:
    archive, namespace = configured_archive(None), where.namespace or DEFAULT_NAMESPACE
    database = store_of(where.url, SystemClock())
    store = None if archive is None else await with_archived(database, archive, namespace, run)
    if store is None:
        raise missing
    note("from the archive")
    async with looking(where.url, store=store) as engine:
        yield await engine.get(run, namespace)
