"""How large each table of a database is, with its indexes, and how many rows it has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import apsw
import asyncpg

from plait.stores import statements

SQL = statements.load("bench.retention", "sizes.sql")


@dataclass(frozen=True, slots=True)
class Size:
    rows: int
    bytes: int


Sizes = Mapping[str, Size]
"""By table."""


def total(sizes: Sizes) -> int:
    return sum(size.bytes for size in sizes.values())


class Place(Protocol):
    name: str
    url: str

    async def sizes(self) -> Sizes: ...

    async def passed(self, span: int) -> None:
        """So many milliseconds, for a database that looks at its own clock."""
        ...

    async def tidy(self) -> None:
        """What a server does by itself once in a while: a simulated day is too short for it."""
        ...


class SqlitePlace:
    name = "sqlite"

    def __init__(self, folder: Path) -> None:
        self._path = str(folder / "plait.db")
        self.url = f"sqlite:///{self._path}"

    async def sizes(self) -> Sizes:
        """Pages that nothing uses are a table of their own: the file is as large as all of them."""
        db = apsw.Connection(self._path)
        try:
            found = {name: Size(_rows(db, name), size) for name, size in db.execute(SQL["sqlite"])}
            (free,) = next(db.execute("select freelist_count * page_size from pragma_freelist_count, pragma_page_size"))
        finally:
            db.close()
        return {**found, "(free pages)": Size(0, free)}

    async def passed(self, span: int) -> None:
        pass

    async def tidy(self) -> None:
        db = apsw.Connection(self._path)
        db.execute("pragma wal_checkpoint(truncate)").fetchall()
        db.close()


def _rows(db: apsw.Connection, table: str) -> int:
    return int(next(db.execute(f'select count(*) from "{table}"'))[0])


class PostgresPlace:
    name = "postgres"

    def __init__(self, url: str) -> None:
        self.url = url

    async def sizes(self) -> Sizes:
        db: asyncpg.Connection[Any] = await asyncpg.connect(self.url)
        try:
            found = await db.fetch(SQL["postgres"])
            return {name: Size(await db.fetchval(f"select count(*) from {name}"), size) for name, size in found}
        finally:
            await db.close()

    async def passed(self, span: int) -> None:
        db: asyncpg.Connection[Any] = await asyncpg.connect(self.url)
        await db.execute(SQL["pass_time"], span)
        await db.close()

    async def tidy(self) -> None:
        db: asyncpg.Connection[Any] = await asyncpg.connect(self.url)
        await db.execute("vacuum analyze", timeout=3600)
        await db.close()
