"""A PostgreSQL database with many ended runs and all that belongs to them, made by the server itself.

The same runs as those of `bench.lists.filling`, each with its events; indexes are made when the tables are full. Ten
million take a quarter of an hour on two quiet cores, and 16 GB.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

import asyncpg

from bench.lists.filling import FIRST
from plait.stores import statements
from plait.stores.postgres import PostgresStore

SQL = statements.load("bench.years", "filling.sql")
TABLES = ("log", "runs", "labels", "texts")
_PAGE = 500_000
_NO_LIMIT = 24 * 3600


async def fill(url: str, count: int) -> None:
    store = PostgresStore(url)
    await store.open()
    await store.close()
    async with asyncpg.create_pool(url, min_size=0, max_size=2, command_timeout=_NO_LIMIT) as pool:
        indexes = await pool.fetch(SQL["indexes"])
        for drop, _, _ in indexes:
            await pool.execute(drop)
        await asyncio.gather(*(_fill_table(pool, name, count) for name in TABLES))
        await asyncio.gather(
            *(_make(pool, [make for _, make, of in indexes if of == table]) for table in _tables(indexes))
        )
        await pool.execute(SQL["advance_numbers"], count)
        await pool.execute("vacuum analyze")
        await pool.execute("checkpoint")


def _tables(indexes: Iterable[Any]) -> list[str]:
    return list(dict.fromkeys(table for _, _, table in indexes))


async def _fill_table(pool: asyncpg.Pool[Any], name: str, count: int) -> None:
    for first in range(0, count, _PAGE):
        await pool.execute(SQL[name], first, min(count, first + _PAGE) - 1, FIRST)


async def _make(pool: asyncpg.Pool[Any], indexes: list[str]) -> None:
    async with pool.acquire() as connection:
        await connection.execute("set maintenance_work_mem = '1GB'")
        for statement in indexes:
            await connection.execute(statement)
