"""What PostgreSQL itself can do with the rows: ``copy`` on one connection, the fastest way in."""

from __future__ import annotations

from importlib import metadata

import asyncpg

from bench.subjects import limit_works
from bench.subjects.limit_rows import Batch
from bench.subjects.script import Order, run_script
from bench.works import Measures

CREATE = """
create table if not exists events (
    run_id text not null, seq bigint not null, data text not null, primary key (run_id, seq)
)
"""
SELECT = "select data from events order by run_id, seq"


class PostgresTable:
    def __init__(self, target: str) -> None:
        self._url = target

    async def open(self) -> None:
        self._connection = await asyncpg.connect(self._url)
        await self._connection.execute(CREATE)

    async def write(self, rows: Batch) -> None:
        await self._connection.copy_records_to_table("events", records=rows, columns=("run_id", "seq", "data"))

    async def read(self) -> list[str]:
        return [row["data"] for row in await self._connection.fetch(SELECT)]


async def perform(order: Order) -> Measures:
    return await limit_works.perform(PostgresTable(order.target), order)


if __name__ == "__main__":
    run_script(f"asyncpg {metadata.version('asyncpg')}", perform)
