"""What SQLite itself can do with the rows, with the standard library's driver and one connection."""

from __future__ import annotations

import sqlite3
from urllib.parse import parse_qs, urlsplit

from bench.subjects import limit_works
from bench.subjects.limit_rows import Batch
from bench.subjects.script import Order, run_script
from bench.works import Measures

CREATE = """
create table if not exists events (
    run_id text not null, seq integer not null, data text not null, primary key (run_id, seq)
) without rowid
"""
INSERT = "insert into events (run_id, seq, data) values (?, ?, ?)"
SELECT = "select data from events order by run_id, seq"


class SqliteTable:
    def __init__(self, target: str) -> None:
        url = urlsplit(target)
        self._path = url.path.removeprefix("/")
        self._synchronous = parse_qs(url.query).get("synchronous", ["FULL"])[0]

    async def open(self) -> None:
        self._connection = sqlite3.connect(self._path, isolation_level=None)
        self._connection.execute("pragma journal_mode = wal")
        self._connection.execute(f"pragma synchronous = {self._synchronous}")
        self._connection.execute(CREATE)

    async def write(self, rows: Batch) -> None:
        self._connection.execute("begin immediate")
        self._connection.executemany(INSERT, rows)
        self._connection.execute("commit")

    async def read(self) -> list[str]:
        return [data for (data,) in self._connection.execute(SELECT)]


async def perform(order: Order) -> Measures:
    return await limit_works.perform(SqliteTable(order.target), order)


if __name__ == "__main__":
    run_script(sqlite3.sqlite_version, perform)
