"""Lists are read beside the loop that commits."""

import asyncio
import threading
from pathlib import Path

import apsw
import pytest

from plait.kernel.errors import Unavailable
from plait.kernel.ids import RunId
from plait.kernel.store import RunFilter
from plait.stores.sqlite import SqliteStore
from plait.stores.sqlite.readers import READERS
from tests.contract.stores.builders import create, ids


async def test_commits_go_on_while_every_reader_is_held_up(tmp_path: Path):
    store = SqliteStore(str(tmp_path / "plait.db"))
    await store.open()
    held, go_on = threading.Semaphore(0), threading.Event()

    def wait(_: apsw.Connection) -> None:
        held.release()
        go_on.wait()

    slow = [asyncio.ensure_future(store._read(wait)) for _ in range(READERS)]
    for _ in slow:
        await asyncio.to_thread(held.acquire)
    listing = asyncio.ensure_future(store.runs(RunFilter()))
    await create(store, "order-1")
    assert await store.run(RunId("order-1")) is not None
    assert not listing.done()
    go_on.set()
    assert ids(await listing) == ["order-1"]
    await asyncio.gather(*slow)
    await store.close()


async def test_a_list_is_read_on_another_thread(tmp_path: Path):
    store = SqliteStore(str(tmp_path / "plait.db"))
    await store.open()
    assert await store._read(lambda _: threading.get_ident()) != threading.get_ident()
    await store.close()


async def test_who_reads_when_the_store_closes_is_stopped(tmp_path: Path):
    store = SqliteStore(str(tmp_path / "plait.db"))
    await store.open()
    begun = threading.Event()

    def endless(db: apsw.Connection) -> None:
        begun.set()
        db.execute("with recursive n (i) as (select 1 union all select i + 1 from n) select max(i) from n").fetchall()

    reading = asyncio.ensure_future(store._read(endless))
    await asyncio.to_thread(begun.wait)
    await store.close()
    [found] = await asyncio.gather(reading, return_exceptions=True)
    assert isinstance(found, Unavailable)
    assert found.code == "kernel.closed"


async def test_who_waits_for_a_reader_when_the_store_closes_is_not_cancelled(tmp_path: Path):
    store = SqliteStore(str(tmp_path / "plait.db"))
    await store.open()
    held, go_on = threading.Semaphore(0), threading.Event()

    def wait(_: apsw.Connection) -> None:
        held.release()
        go_on.wait()

    slow = [asyncio.ensure_future(store._read(wait)) for _ in range(READERS)]
    for _ in slow:
        await asyncio.to_thread(held.acquire)
    listing = asyncio.ensure_future(store.runs(RunFilter()))
    await asyncio.sleep(0)
    threading.Timer(0.05, go_on.set).start()
    await store.close()
    with pytest.raises(Unavailable) as refused:
        await listing
    assert refused.value.code == "kernel.closed"
    await asyncio.gather(*slow)
