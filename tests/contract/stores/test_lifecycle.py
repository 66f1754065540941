"""Opening, closing, watching, and several stores on one database, as several processes have them."""

import asyncio

import pytest

from plait.kernel.ids import SHARDS, RunId
from tests.contract.stores.backends import Backend, opened
from tests.contract.stores.builders import LONG, create, ended, log_row, message, must, outside, own_all, run_row


async def test_a_store_may_be_closed_and_opened_again(backend: Backend):
    store = backend.store()
    for _ in range(2):
        await store.open()
        await store.commit([outside("run", create=run_row())])
        assert await store.run(RunId("run")) == run_row()
        await store.close()


async def test_closing_leaves_nothing_running(backend: Backend):
    async with opened(backend) as store:
        store.watch(lambda: None)
        await own_all(store)
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_closing_twice_is_no_harm(backend: Backend):
    async with opened(backend) as store:
        await store.close()


async def test_the_facts_name_the_store_its_schema_its_size_and_what_it_promises(backend: Backend):
    async with opened(backend) as store:
        facts = await store.facts()
    assert {"store", "schema", "size", "durability"} <= facts.keys()
    assert all(isinstance(value, str) and value for value in facts.values())


async def test_a_store_that_is_not_open_says_so(shared_backend: Backend):
    store = shared_backend.store()
    with pytest.raises(RuntimeError, match="not open"):
        await store.run(RunId("run"))
    with pytest.raises(RuntimeError, match="not open"):
        await store.commit([])


async def test_what_one_process_writes_the_other_reads(shared_backend: Backend):
    async with opened(shared_backend) as one, opened(shared_backend) as two:
        owner = await own_all(one)
        await create(two, "run")
        await must(one, owner.write("run", log=log_row(1)))
        await must(two, outside("run", inbox=[message("run")]))
        assert await two.log(RunId("run")) == [log_row(1)]
        assert len(await one.inbox([run_row().shard], 10)) == 1


async def test_a_shard_has_one_owner_among_processes(shared_backend: Backend):
    async with opened(shared_backend) as one, opened(shared_backend) as two:
        await own_all(one, "a")
        assert await two.claim("b", LONG, SHARDS) == []
        await one.release("a")
        await own_all(two, "b")


async def test_a_process_that_closes_without_a_word_is_succeeded_at_once(shared_backend: Backend):
    async with opened(shared_backend) as two:
        async with opened(shared_backend) as one:
            old = await own_all(one, "a")
        new = await own_all(two, "b")
        await create(two, "run")
        assert await two.commit([old.write("run", log=log_row(1))]) == ["fenced"]
        await must(two, new.write("run", log=log_row(1)))


async def test_many_processes_may_open_a_new_database_at_once(shared_backend: Backend):
    stores = [shared_backend.store() for _ in range(6)]
    await asyncio.gather(*(store.open() for store in stores))
    await own_all(stores[0])
    for store in stores:
        await store.close()


@pytest.mark.parametrize("what", ["a new run", "a message", "an end", "shards given up"])
async def test_a_watcher_is_called_when_another_process_wrote(shared_backend: Backend, what: str):
    async with opened(shared_backend) as one, opened(shared_backend) as two:
        owner = await own_all(two)
        await create(two, "run")
        called = asyncio.Event()
        one.watch(called.set)
        await called.wait()  # once at the start: what was written before is found by looking
        called.clear()
        match what:
            case "a new run":
                await create(two, "another")
            case "a message":
                await must(two, outside("run", inbox=[message("run")]))
            case "an end":
                await must(two, owner.write("run", patch=ended()))
            case _:
                await two.release(owner.name)
        await called.wait()
