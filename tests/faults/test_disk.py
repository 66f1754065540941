"""The disk is full, read-only or locked in the middle: callers are told, and what is under way waits and goes on."""

# The limit of pages is a connection's own, so the test reaches for the store's
# pyright: reportPrivateUsage=false

import asyncio
import logging
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from plait import Context, Engine, workflow
from plait.errors import Unavailable
from plait.stores.sqlite import SqliteStore
from plait.testing import history

LARGE = "x" * 30_000


class Gate:
    """Lets steps through when the test says so, and says when one waits."""

    def __init__(self) -> None:
        self.waiting = asyncio.Event()
        self.open = asyncio.Event()

    def flow(self) -> Any:
        @workflow(name="gated")
        async def gated(ctx: Context) -> int:
            async def pass_through() -> str:
                self.waiting.set()
                await self.open.wait()
                return LARGE

            return len(await ctx.step("before", pass_through)) + len(await ctx.step("after", pass_through))

        return gated


@contextmanager
def logged(text: str) -> Iterator[asyncio.Event]:
    """Set as soon as the engine has logged this."""
    event = asyncio.Event()

    class Notice(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if text in record.getMessage():
                event.set()

    logger, notice = logging.getLogger("plait.kernel"), Notice()
    logger.addHandler(notice)
    try:
        yield event
    finally:
        logger.removeHandler(notice)


async def start_until_refused(engine: Engine, flow: Any, acknowledged: list[str] | None = None) -> Unavailable:
    """A disk that is full has room until the file would have to grow."""
    for number in range(1000):
        try:
            handle = await engine.start(flow, id=f"run-{number}", labels={"padding": "x" * 900})
        except Unavailable as refusal:
            return refusal
        if acknowledged is not None:
            acknowledged.append(handle.id)
    raise AssertionError("nothing was refused")


async def goes_on_after(
    store: SqliteStore, code: str, break_it: Callable[[], object], mend_it: Callable[[], object]
) -> None:
    gate = Gate()
    flow = gate.flow()
    async with Engine(store=store, definitions=[flow]) as engine:
        under_way = await engine.start(flow, id="under-way")
        await gate.waiting.wait()
        break_it()
        assert (await start_until_refused(engine, flow)).code == code
        with logged("could not commit") as tried:
            gate.open.set()
            await tried.wait()
        assert await under_way.status() == "running"
        mend_it()
        assert await under_way.result() == 2 * len(LARGE)
        for row in await engine.runs():
            handle = await engine.get(row.id)
            assert await handle.result() == 2 * len(LARGE)
            (await history(handle)).assert_recorded_once()


async def test_a_disk_that_is_full_for_a_while(tmp_path: Path):
    store = SqliteStore(str(tmp_path / "plait.db"))

    def fill() -> None:
        assert store._db is not None
        [(pages,)] = store._db.execute("pragma page_count")
        store._db.execute(f"pragma max_page_count = {pages}")

    def free() -> None:
        assert store._db is not None
        store._db.execute("pragma max_page_count = 1000000")

    await goes_on_after(store, "store.full", fill, free)


async def test_a_file_that_is_read_only_for_a_while(tmp_path: Path):
    store = SqliteStore(str(tmp_path / "plait.db"))

    def protect(on: bool) -> None:
        assert store._db is not None
        store._db.execute(f"pragma query_only = {int(on)}")

    await goes_on_after(store, "store.read_only", lambda: protect(True), lambda: protect(False))


HOLD_THE_LOCK = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("begin immediate")
print("locked", flush=True)
sys.stdin.read()
"""


async def test_a_database_that_another_process_has_locked_for_a_while(tmp_path: Path):
    path = str(tmp_path / "plait.db")
    store = SqliteStore(path, busy_ms=20)
    holders: list[subprocess.Popen[str]] = []

    def lock() -> None:
        command = [sys.executable, "-c", HOLD_THE_LOCK, path]
        holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        holders.append(holder)
        assert holder.stdout is not None
        assert holder.stdout.readline() == "locked\n"

    def unlock() -> None:
        holders[0].communicate(timeout=10)

    try:
        await goes_on_after(store, "store.locked", lock, unlock)
    finally:
        for holder in holders:
            holder.kill()
            holder.communicate()


async def test_what_was_acknowledged_before_the_disk_was_full_is_there_afterwards(tmp_path: Path):
    path = tmp_path / "plait.db"
    store = SqliteStore(str(path))
    gate = Gate()
    flow = gate.flow()
    acknowledged: list[str] = []
    async with Engine(store=store, definitions=[flow]) as engine:
        assert store._db is not None
        [(pages,)] = store._db.execute("pragma page_count")
        store._db.execute(f"pragma max_page_count = {pages + 20}")
        assert (await start_until_refused(engine, flow, acknowledged)).code == "store.full"
        store._db.execute("pragma max_page_count = 1000000")
    with sqlite3.connect(path) as db:
        found = {id for (id,) in db.execute("select id from runs")}
    db.close()
    assert acknowledged
    assert set(acknowledged) <= found
