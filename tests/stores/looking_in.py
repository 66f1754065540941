"""A connection beside the store's own: to look into a database, meddle with it, and wait for what happens there."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg

from plait.stores.postgres import PostgresStore

WRITER_WAITS = """
select exists (select from pg_stat_activity
               where datname = current_database() and application_name = 'plait writer' and wait_event_type = 'Lock')
"""
END_CONNECTIONS = """
select count(pg_terminate_backend(pid)) from pg_stat_activity
where datname = current_database() and application_name = $1
"""


@asynccontextmanager
async def looking_in(url: str) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
    connection = await asyncpg.connect(url)
    try:
        yield connection
    finally:
        await connection.close()


@asynccontextmanager
async def opened_at(url: str) -> AsyncIterator[PostgresStore]:
    store = PostgresStore(url)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


async def until(connection: "asyncpg.Connection[asyncpg.Record]", query: str, *args: Any) -> None:
    """Asks again and again; the time limit of the test is the only one."""
    while not await connection.fetchval(query, *args):  # noqa: ASYNC110
        await asyncio.sleep(0.005)  # a server that is asked without a pause has less time for what is waited for
