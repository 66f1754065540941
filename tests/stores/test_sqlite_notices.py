"""SQLite sends no notices: a store asks, and tells its engine of what another wrote, and of nothing else."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from plait.stores.sqlite import SqliteStore
from plait.stores.sqlite import store as module
from tests.contract.stores.builders import create


async def test_what_another_wrote_is_news_and_what_is_older_or_our_own_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = asyncio.Semaphore(0)
    version_of = module._data_version

    def counted(db: Any) -> int:
        asked.release()
        return version_of(db)

    monkeypatch.setattr(module, "POLL", 0.0)
    monkeypatch.setattr(module, "_data_version", counted)
    async with opened(tmp_path) as other:
        await create(other, "older")
        async with opened(tmp_path) as store:
            news = asyncio.Event()
            store.watch(news.set)
            await create(store, "our own")
            for _ in range(10):
                await asked.acquire()
            assert not news.is_set()
            await create(other, "another's")
            await news.wait()


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(str(folder / "plait.db"))
    await store.open()
    try:
        yield store
    finally:
        await store.close()
