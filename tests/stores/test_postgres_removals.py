"""Large values and texts that one process writes while another is about to delete them."""

from __future__ import annotations

import asyncio

from plait.kernel.ids import RunId
from plait.stores.postgres import PostgresStore
from plait.stores.postgres.run_texts import SQL as TEXTS
from plait.stores.run_texts import texts
from tests.contract.stores.builders import create, ended, must, own_all
from tests.contract.stores.test_removals import LATER, blob, swept, with_value
from tests.stores.looking_in import looking_in

AGAIN = (
    "insert into plait.blobs (digest, body) values ($1, $2) on conflict (digest) do update set digest = excluded.digest"
)
WAITING = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and application_name = 'plait lists'"


async def test_a_value_that_is_written_again_while_it_is_swept_stays(postgres_url: str):
    store, value = PostgresStore(postgres_url), blob("large")
    await store.open()
    try:
        owner = await own_all(store)
        await create(store, "run")
        await must(store, owner.write("run", log=with_value(1, value), blobs=[value], patch=ended()))
        await must(store, owner.write("run", removal=LATER))
        async with looking_in(postgres_url) as other, looking_in(postgres_url) as watcher:
            writing = other.transaction()
            await writing.start()
            await other.execute(AGAIN, *value)
            sweeping = asyncio.create_task(swept(store))
            while not await watcher.fetchval(WAITING):
                assert not sweeping.done()
            await other.execute("insert into plait.blob_refs (digest, run) values ($1, 999)", value[0])
            await writing.commit()
            await sweeping
        assert await store.blob(value[0]) == value[1]
        assert await store.log(RunId("run")) == []
    finally:
        await store.close()


async def test_texts_of_a_run_that_is_removed_while_it_is_indexed_do_not_stay(postgres_url: str):
    store = PostgresStore(postgres_url)
    await store.open()
    try:
        owner = await own_all(store)
        await create(store, "run")
        await must(store, owner.write("run", patch=ended()))
        async with looking_in(postgres_url) as other, looking_in(postgres_url) as watcher:
            indexing = other.transaction()
            await indexing.start()
            await other.execute(TEXTS["lock_texts"])
            due = [row[0] for row in await other.fetch(TEXTS["take_due"], 10)]
            found = list(texts(map(tuple, await other.fetch(TEXTS["due_runs"], due))))
            assert found
            await must(store, owner.write("run", removal=LATER))
            sweeping = asyncio.create_task(swept(store))
            while not await watcher.fetchval(WAITING):
                assert not sweeping.done()
            await other.execute(TEXTS["add_texts"], *zip(*found, strict=True))
            await indexing.commit()
            await sweeping
            assert await watcher.fetch("select run, text from plait.run_texts") == []
    finally:
        await store.close()
