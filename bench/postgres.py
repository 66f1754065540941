"""A PostgreSQL server for the bench, and a fresh database for every measurement.

A server named by ``PLAIT_BENCH_POSTGRES`` or ``PLAIT_TEST_POSTGRES`` is used as it is; otherwise the one that the tests
start is started here too. A server that does not wait for the disk would make its figures incomparable, so that is
looked up and said.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncGenerator, Generator
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from bench.unavailable import UnavailableError

VARIABLES = ("PLAIT_BENCH_POSTGRES", "PLAIT_TEST_POSTGRES")


@dataclass
class Databases:
    url: str
    version: str
    durable: bool
    _made: int = 0

    @contextlib.asynccontextmanager
    async def fresh(self, *, keep: bool = False) -> AsyncGenerator[str, None]:
        """The url of an empty database, dropped afterwards unless it is to be kept."""
        self._made += 1
        name = f"bench_{os.getpid()}_{self._made}"
        await self._admin(f"create database {name}")
        try:
            yield urlunsplit(urlsplit(self.url)._replace(path=f"/{name}"))
        finally:
            if not keep:
                await self._admin(f"drop database {name} with (force)")

    async def _admin(self, statement: str) -> None:
        connection = await asyncpg.connect(self.url)
        try:
            await connection.execute(statement)
        finally:
            await connection.close()


@contextlib.asynccontextmanager
async def databases() -> AsyncGenerator[Databases, None]:
    with _server_url() as url:
        try:
            connection = await asyncpg.connect(url)
        except (OSError, asyncpg.PostgresError) as error:
            raise UnavailableError(f"no PostgreSQL at the given url: {error}") from error
        try:
            version = await connection.fetchval("show server_version")
            waits = [await connection.fetchval(f"show {name}") for name in ("fsync", "synchronous_commit")]
        finally:
            await connection.close()
        yield Databases(url, version, durable="off" not in waits)


@contextlib.contextmanager
def _server_url() -> Generator[str, None, None]:
    given = next((os.environ[name] for name in VARIABLES if os.environ.get(name)), None)
    if given:
        yield given
        return
    try:
        from tests.support.postgres import PostgresServer
    except ImportError as error:
        raise UnavailableError(f"set {VARIABLES[0]} to the url of a PostgreSQL server ({error})") from error
    with PostgresServer.start() as server:
        yield server.url
