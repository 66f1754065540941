"""Ended runs leave a store: whole in one moment, their events and large values some at a time after it."""

import hashlib
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from plait.kernel import values
from plait.kernel.errors import NotFound
from plait.kernel.ids import Epoch, Millis, RunId, Seq, shard_of
from plait.kernel.removal import EndedPage, EndedQuery
from plait.kernel.store import Line, LogRow, RunFilter, Snapshot, Store, Taken
from tests.contract.stores.backends import Backend, opened
from tests.contract.stores.builders import (
    ALL,
    NOW,
    Owner,
    approval,
    child,
    create,
    dead_letter,
    ended,
    ids,
    log_row,
    message,
    must,
    outside,
    own_all,
    queued_task,
    run_row,
    timer,
)

LATER = Millis(NOW + 1_000)
"""All runs of these tests have ended by then."""


def query(**changes: Any) -> EndedQuery:
    asked = EndedQuery(namespace="default", dialect="code", status="completed", before=LATER, shards=ALL)
    return replace(asked, **changes)


def blob(text: str) -> tuple[str, bytes]:
    body = values.plain(text)
    return f"sha256:{hashlib.sha256(body).hexdigest()}", body


def with_value(seq: int, *found: tuple[str, bytes]) -> LogRow:
    refs = values.plain({f"0.part{place}": digest for place, (digest, _) in enumerate(found)}).decode()
    return replace(log_row(seq), blobs=refs)


async def swept(store: Store, limit: int = 2) -> int:
    """How many times there was something to do."""
    count = 0
    while await store.removals.sweep(limit):
        count += 1
        assert count < 100
    return count


async def end(store: Store, owner: Owner, *run_ids: str, **changes: Any) -> None:
    await must(store, *(owner.write(run_id, patch=ended(**changes)) for run_id in run_ids))


async def remove(store: Store, owner: Owner, *run_ids: str) -> None:
    await must(store, *(owner.write(run_id, removal=LATER) for run_id in run_ids))


async def stored_name(store: Store, run_id: str) -> str:
    """What the first large value of a run is stored under."""
    [row] = [row for row in await store.log(RunId(run_id)) if row.blobs is not None]
    return next(iter(msgspec.json.decode(row.blobs or "", type=dict[str, str]).values()))


async def test_nothing_of_a_removed_run_can_be_found(backend: Backend):
    line = Line(RunId("run"), "step", 1, NOW, "info", "hello")
    async with opened(backend) as store:
        owner = await own_all(store)
        labels = {"customer": "42"}
        row = run_row("run", labels=labels)
        await must(store, outside("run", create=row, inbox=[message("run", "start")]))
        await create(store, "newest")
        await must(
            store,
            owner.write(
                "run",
                log=log_row(1, 3),
                taken=[Taken("start", values.plain("yes"))],
                approvals=[approval("run", status="approved")],
                dead_letters=[dead_letter("run")],
                timers=[timer("run")],
                queued=[queued_task("run")],
                snapshot=Snapshot(Seq(3), NOW, values.plain({"state": 1})),
                lines=[line],
                patch=ended(),
            ),
        )
        assert ids(await store.runs(RunFilter(namespace="default", text="customer"))) == ["run"]
        await remove(store, owner, "run")
        key = RunId("run")
        assert await store.run(key) is None
        assert ids(await store.runs(RunFilter(namespace="default"))) == ["newest"]
        assert await store.runs(RunFilter(namespace="default", labels=labels)) == []
        assert await store.runs(RunFilter(namespace="default", text="customer")) == []
        assert await store.log(key) == []
        assert await store.snapshot(key) is None
        assert await store.reply(key, "start") is None
        assert await store.approval("run:approve") is None
        assert await store.dead_letters(None) == []
        assert await store.lines(key, None, 0, 10) == []
        assert await store.due(ALL, LATER, 10) == []
        assert await store.queues.unclaimed() == []
        assert await store.integrity() == []
        assert await swept(store) == 1
        assert await store.integrity() == []


async def test_a_long_log_goes_some_events_at_a_time(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await create(store, "run", "other")
        await must(store, *(owner.write("run", log=log_row(seq)) for seq in range(1, 8)))
        await must(store, owner.write("other", log=log_row(1)))
        await end(store, owner, "run")
        await remove(store, owner, "run")
        assert await swept(store, limit=2) == 4
        assert len(await store.log(RunId("other"))) == 1
        assert await store.integrity() == []


@pytest.mark.parametrize("why", ["running", "not yet", "an input waits", "its parent is there", "unknown"])
async def test_a_run_that_is_needed_stays(backend: Backend, why: str):
    async with opened(backend) as store:
        owner = await own_all(store)
        await create(store, "parent")
        await must(store, owner.write("parent", children=[child("run", parent="parent")]))
        if why != "its parent is there":
            await create(store, "free")
        target = "run" if why == "its parent is there" else "nobody" if why == "unknown" else "free"
        await create(store, "newest")
        if why not in ("running", "unknown"):
            taken = [Taken("start")] if target == "run" else []
            at = Millis(LATER + 1) if why == "not yet" else NOW
            await must(store, owner.write(target, taken=taken, patch=ended(ended_at=at)))
        if why == "an input waits":
            await must(store, outside(target, inbox=[message(target, "retry")]))
        assert await store.commit([owner.write(target, removal=LATER)]) == ["conflict"]
        assert why == "unknown" or await store.run(RunId(target)) is not None


async def test_a_refused_removal_takes_no_other_write_down(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await create(store, "done", "running", "newest")
        await end(store, owner, "done")
        writes = [
            owner.write("running", removal=LATER),
            owner.write("done", removal=LATER),
            owner.write("newest", log=log_row(1)),
        ]
        assert await store.commit(writes) == ["conflict", "ok", "ok"]
        assert await store.run(RunId("done")) is None
        assert len(await store.log(RunId("newest"))) == 1


async def test_whoever_lost_the_shard_removes_nothing(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await create(store, "run", "newest")
        await end(store, owner, "run")
        stale = owner.write("run", removal=LATER)
        stale.epoch = Epoch(int(stale.epoch or 0) - 1)
        assert await store.commit([stale]) == ["fenced"]
        assert await store.run(RunId("run")) is not None


async def test_a_write_for_a_removed_run_is_refused(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await create(store, "run", "newest")
        await must(store, owner.write("run", log=log_row(1), patch=ended()))
        await remove(store, owner, "run")
        assert await store.commit([owner.write("run", log=log_row(2))]) == ["conflict"]


async def test_the_id_of_a_removed_run_can_be_used_again(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await create(store, "run", "newest")
        await must(store, owner.write("run", log=log_row(1, note="old"), patch=ended()))
        await remove(store, owner, "run")
        await create(store, "run")
        await must(store, owner.write("run", log=log_row(1, note="new")))
        await swept(store)
        [row] = await store.log(RunId("run"))
        assert b"new" in row.events


async def test_pages_of_ended_runs_say_which_can_be_removed(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        for place, name in enumerate(["a", "b", "c", "d", "e"]):
            await create(store, name, created_at=Millis(NOW + place))
        await must(store, owner.write("a", children=[child("a-child", parent="a")]))
        await end(store, owner, "a", "c", "d", "a-child", ended_at=Millis(NOW + 10))
        await end(store, owner, "e", ended_at=Millis(LATER + 1))
        first = await store.removals.ended(query(limit=3))
        assert first == EndedPage(
            [RunId("a"), RunId("c")], [shard_of(RunId("a")), shard_of(RunId("c"))], (Millis(NOW + 2), RunId("c"))
        )
        assert await store.removals.ended(query(limit=3, after=first.next)) == EndedPage(
            [RunId("d")], [shard_of(RunId("d"))], None
        )
        assert (await store.removals.ended(query(shards=[]))).runs == []
        assert (await store.removals.ended(query(status="failed"))).runs == []
        assert (await store.removals.ended(query(dialect="graph"))).runs == []
        assert (await store.removals.ended(query(namespace="acme"))).runs == []


async def test_log_lines_of_an_ended_run_can_go_before_it(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await create(store, "run", "running")
        lines = [Line(RunId(run), "step", 1, NOW, "info", f"line {n}") for run in ("run", "running") for n in range(5)]
        await must(store, owner.write("run", lines=lines, patch=ended()))
        shrink = store.removals.shrink
        assert [await shrink([RunId("run"), RunId("running")], LATER, 3) for _ in range(3)] == [3, 2, 0]
        assert await shrink([RunId("running")], LATER, 3) == 0
        assert len(await store.lines(RunId("running"), None, 0, 10)) == 5


async def test_a_large_value_goes_with_the_last_run_that_has_it(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        await create(store, "one", "two", "newest")
        shared, own = blob("of both"), blob("of one")
        await must(
            store,
            owner.write("one", log=with_value(1, shared, own), blobs=[shared, own], patch=ended()),
            owner.write("two", log=with_value(1, shared), blobs=[shared], patch=ended()),
        )
        name = await stored_name(store, "two")
        await remove(store, owner, "one")
        await swept(store)
        assert await store.blob(name) == shared[1]
        await remove(store, owner, "two")
        await swept(store)
        with pytest.raises(NotFound):
            await store.blob(name)


async def test_a_fork_keeps_the_large_values_of_its_past(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        value = blob("large")
        await create(store, "source")
        await must(store, owner.write("source", log=with_value(1, value), blobs=[value], patch=ended()))
        copies, name = await store.log(RunId("source")), await stored_name(store, "source")
        fork = outside("fork", create=run_row("fork"), copies=copies, shared=[name], log=log_row(2))
        await must(store, fork)
        await remove(store, owner, "source")
        await swept(store)
        assert await store.blob(name) == value[1]


async def test_a_fork_whose_past_was_removed_meanwhile_is_refused(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        value = blob("large")
        await create(store, "source", "newest")
        await must(store, owner.write("source", log=with_value(1, value), blobs=[value], patch=ended()))
        copies, name = await store.log(RunId("source")), await stored_name(store, "source")
        await remove(store, owner, "source")
        await swept(store)
        fork = outside("fork", create=run_row("fork"), copies=copies, shared=[name], log=log_row(2))
        assert await store.commit([fork]) == ["exists"]
        assert await store.run(RunId("fork")) is None


async def test_a_value_that_belongs_to_no_run_stays(backend: Backend):
    async with opened(backend) as store:
        owner = await own_all(store)
        value = blob("uploaded")
        await create(store, "run", "newest")
        await must(store, outside("~upload", blobs=[value]))
        await must(store, owner.write("run", log=with_value(1, value), blobs=[value], patch=ended()))
        await remove(store, owner, "run")
        await swept(store)
        assert await store.blob(value[0]) == value[1]


async def test_inputs_for_runs_that_are_not_there_go_after_a_while(backend: Backend):
    async with opened(backend) as store:
        await own_all(store)
        await must(store, outside("run", create=run_row("run"), inbox=[message("run", "mine")]))
        await must(store, outside("gone", inbox=[message("gone", "a"), message("gone", "b"), message("lost", "a")]))
        remove = store.removals.remove_lost_inputs
        assert await remove(ALL, Millis(NOW - 1), 10) == []
        assert await remove([], NOW, 10) == []
        assert len(await remove(ALL, NOW, 2)) == 2
        assert len(await remove(ALL, NOW, 2)) == 1
        assert await remove(ALL, NOW, 2) == []
        assert [row.key for row in await store.inbox(ALL, 10)] == ["mine"]
