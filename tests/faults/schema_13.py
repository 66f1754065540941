"""Plait as it was at schema 13, before logs had partitions: an engine process with its statements, and its database.

    await make_schema_13(url)
    with serving_13(url, ledger) as engine:     # starts runs by itself, one after the other
        engine.begins(100)
        engine.terminate()

It knows thirteen migrations, reads and removes logs with the statements of then, and makes no partitions.
`acknowledged` has the runs that its starts were answered for.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import asyncpg

from plait import Engine
from plait.kernel.ids import RunId, Seq
from plait.kernel.store import LogRow
from plait.stores.log_rows import log_row
from plait.stores.postgres import PostgresStore, database, removals
from plait.stores.postgres.run_texts import SQL as TEXTS
from plait.stores.statements import parse
from tests.faults.serving import Serving, end_with_the_test
from tests.faults.work import DEFINITIONS, LEDGER, summing
from tests.support.processes import start

MIGRATIONS = database._MIGRATIONS[:13]
STATEMENTS = parse(Path(__file__).with_name("schema_13.sql").read_text())
_SIDE_BY_SIDE = 8
_FIRST = Seq(0)


async def make_schema_13(url: str) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute(
        "create schema plait; create table plait.schema_version (version integer not null);"
        "insert into plait.schema_version (version) values (13)"
    )
    for _, script in MIGRATIONS:
        await connection.execute(script)
    await connection.execute(TEXTS["create_index"])
    await connection.close()


@contextmanager
def serving_13(url: str, ledger: Path) -> Iterator[Serving]:
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with start("tests.faults.schema_13", url, env={**os.environ, LEDGER: str(ledger)}, **pipes) as process:
        try:
            engine = Serving(process)
            engine.hears("ready")
            yield engine
        finally:
            process.kill()


def acknowledged(engine: Serving) -> dict[str, int]:
    """By id, what the run was started with."""
    found = (line.split() for line in engine.said if line.startswith("acknowledged "))
    return {run_id: int(number) for _, run_id, number in found}


async def serve(url: str) -> None:
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    async with Engine(url, definitions=DEFINITIONS, lease_ttl=3.0) as engine:
        print("ready", flush=True)
        await asyncio.gather(*(_load(engine, first, stopped) for first in range(_SIDE_BY_SIDE)))
    print("closed", flush=True)


async def _load(engine: Engine, number: int, stopped: asyncio.Event) -> None:
    while not stopped.is_set():
        handle = await engine.start(summing, number, id=f"sum-{os.getpid()}-{number}")
        os.write(1, f"acknowledged sum-{os.getpid()}-{number} {number}\n".encode())
        number += _SIDE_BY_SIDE
        over = asyncio.ensure_future(handle.result())
        stop = asyncio.ensure_future(stopped.wait())
        await asyncio.wait([over, stop], return_when=asyncio.FIRST_COMPLETED)
        for each in (over, stop):
            each.cancel()
        await asyncio.gather(over, stop, return_exceptions=True)


def as_of_then() -> None:
    database._MIGRATIONS = MIGRATIONS
    for known in (database.SQL, removals.SQL):
        known.update({name: text for name, text in STATEMENTS.items() if name in known})

    async def read(
        self: PostgresStore, run_id: RunId, after: Seq = _FIRST, upto: Seq | None = None, limit: int | None = None
    ) -> list[LogRow]:
        found = await self._fetch("read_log", run_id, after + 1, 2**62 if upto is None else upto, limit)
        return [log_row(run_id, tuple(row)) for row in found]

    async def sweep(self: removals.PostgresRemovals, limit: int) -> bool:
        async with self._use() as connection, connection.transaction():
            run = await connection.fetchval(removals.SQL["next_removed"])
            if run is not None:
                await connection.execute(STATEMENTS["remove_event"], run, limit)
                await connection.execute(removals.SQL["forget_removed"], [run])
            return run is not None

    PostgresStore.log = read
    removals.PostgresRemovals.sweep = sweep


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s", stream=sys.stdout)
    threading.Thread(target=end_with_the_test, daemon=True).start()
    as_of_then()
    asyncio.run(serve(sys.argv[1]))
