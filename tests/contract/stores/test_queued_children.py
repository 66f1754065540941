"""Children on queues: made in their parents' commits, held back there, and gone from there with a cancel."""

import asyncio
from typing import Any

from msgspec.structs import replace

from plait.kernel.ids import RunId
from plait.kernel.run_queues import QueuedRun
from plait.kernel.store import ChildPlace, InboxRow, NewChild, Store, refusal_key
from tests.contract.stores.backends import Backend, opened
from tests.contract.stores.builders import ALL, Owner, child, create, keys, message, must, outside, own_all, run_row


def queued(run_id: str, *, parent: str = "run", announced: bool = False, **options: Any) -> NewChild:
    place = QueuedRun(namespace="default", queue="q", **options)
    told = message(parent, f"started:{run_id}") if announced else None
    new = child(run_id, parent=parent, token=run_id)
    return replace(
        new,
        row=replace(new.row, awake=False),
        queueing=ChildPlace(place, message(parent, f"duplicate:{run_id}"), told),
    )


def cancel(run_id: str) -> InboxRow:
    return replace(message(run_id, "cancel"), withdraws=True)


async def admitted(store: Store) -> list[str]:
    return list((await store.run_queues.admit("default", "q", 100)).admitted)


async def a_parent(store: Store) -> Owner:
    await create(store, "run")
    return await own_all(store)


async def test_a_child_on_a_queue_starts_when_it_is_admitted(backend: Backend):
    async with opened(backend) as store:
        owner = await a_parent(store)
        await must(store, owner.write("run", children=[queued("a"), child("b", parent="run", token="b"), queued("c")]))
        assert [row.run_id for row in await store.inbox(ALL, 10)] == ["b"]
        assert await admitted(store) == ["a", "c"]
        assert [row.run_id for row in await store.inbox(ALL, 10)] == ["a", "b", "c"]


async def test_asking_for_a_child_again_gives_it_no_second_place(backend: Backend):
    async with opened(backend) as store:
        owner = await a_parent(store)
        for _ in range(2):
            await must(store, owner.write("run", children=[queued("a", dedup_id="one")]))
        assert await admitted(store) == ["a"]
        await must(store, owner.write("run", children=[queued("a", dedup_id="one")]))
        assert await admitted(store) == []
        assert keys(await store.inbox(ALL, 10)) == ["start"]


async def test_a_parent_that_waits_only_for_the_start_is_told_at_once(backend: Backend):
    async with opened(backend) as store:
        owner = await a_parent(store)
        await must(store, owner.write("run", children=[queued("a", announced=True)]))
        assert keys(await store.inbox(ALL, 10)) == ["started:a"]


async def test_a_duplicate_is_no_run_and_its_parent_is_told(backend: Backend):
    async with opened(backend) as store:
        owner = await a_parent(store)
        children = [queued("a", dedup_id="one"), queued("b", dedup_id="one", announced=True), queued("c")]
        await must(store, owner.write("run", children=children))
        assert keys(await store.inbox(ALL, 10)) == ["duplicate:b"]
        assert await store.run(RunId("b")) is None
        assert await admitted(store) == ["a", "c"]
        await must(store, owner.write("run", children=[queued("d", dedup_id="one")]))
        assert "duplicate:d" in keys(await store.inbox(ALL, 10))


async def test_of_children_with_one_dedup_id_that_come_at_once_one_is_made(shared_backend: Backend):
    async with opened(shared_backend) as store:
        owner = await own_all(store)
        parents = [f"run-{n}" for n in range(8)]
        await create(store, *parents)
        writes = [
            owner.write(parent, children=[queued(f"{parent}.child", parent=parent, dedup_id="one")])
            for parent in parents
        ]
        await asyncio.gather(*(must(store, write) for write in writes))
        assert len(await admitted(store)) == 1
        found = [row.key for row in await store.inbox(ALL, 100)]
        assert sorted(found)[-1] == "start"
        assert len([key for key in found if key.startswith("duplicate:")]) == 7


async def test_a_cancel_takes_a_child_off_its_queue_and_comes_after_its_start(backend: Backend):
    async with opened(backend) as store:
        owner = await a_parent(store)
        await must(store, owner.write("run", children=[queued("a"), queued("b")]))
        await must(store, owner.write("run", inbox=[cancel("a")]))
        assert [(row.run_id, row.key) for row in await store.inbox(ALL, 10)] == [("a", "start"), ("a", "cancel")]
        assert await admitted(store) == ["b"]


async def test_a_cancel_of_a_child_that_has_its_slot_changes_no_place(backend: Backend):
    async with opened(backend) as store:
        owner = await a_parent(store)
        await must(store, owner.write("run", children=[queued("a")]))
        await admitted(store)
        await must(store, owner.write("run", inbox=[cancel("a"), cancel("nobody")]))
        assert keys(await store.inbox(ALL, 10)) == ["start", "cancel", "cancel"]
        assert [holder.run_id for holder in await store.run_queues.holders("default", "q", 10)] == ["a"]


async def test_a_child_that_is_made_and_cancelled_in_one_commit_starts_first(backend: Backend):
    async with opened(backend) as store:
        owner = await a_parent(store)
        await must(store, owner.write("run", children=[queued("a")], inbox=[cancel("a")]))
        assert keys(await store.inbox(ALL, 10)) == ["start", "cancel"]
        assert await admitted(store) == []


async def test_a_child_whose_refusal_is_on_its_way_is_not_made(backend: Backend):
    """The engine died before the parent heard of it, and asks again: now there would be room."""
    async with opened(backend) as store:
        owner = await a_parent(store)
        refusal = message("run", f"{refusal_key(RunId('a'))}3:a")
        await must(store, owner.write("run", inbox=[refusal, message("run", f"{refusal_key(RunId('ab'))}3:ab")]))
        await must(store, owner.write("run", children=[queued("a"), queued("b")]))
        assert await store.run(RunId("a")) is None
        assert await admitted(store) == ["b"]


async def test_a_child_whose_id_is_taken_gets_no_place(backend: Backend):
    async with opened(backend) as store:
        owner = await a_parent(store)
        await must(store, outside("a", create=run_row("a"), inbox=[message("a", "~start")]))
        await must(store, owner.write("run", children=[queued("a", dedup_id="one")]))
        assert keys(await store.inbox(ALL, 10)) == ["~start", "refused:a"]
        assert await admitted(store) == []
