"""Building a run from what the store has: the latest snapshot, the events after it, the blobs they name."""

import pytest

from plait.kernel import values
from plait.kernel.errors import Conflict, NotFound
from plait.kernel.events import RunCompleted, RunStarted
from plait.kernel.ids import Epoch, Ids, RunId, Seq
from plait.kernel.limits import Limits
from plait.kernel.loader import Loader, recorded
from plait.kernel.store import LogRow, RunRow, Write
from plait.stores.memory import MemoryStore
from tests.contract.stores.builders import must, outside
from tests.kernel import builders
from tests.kernel.builders import NOW, add, advance, done, start
from tests.kernel.rig import Rig, rig
from tests.kernel.toy import ToyBundle, ToyMachine, count, task

RUN = RunId("run")


def loader(store: MemoryStore) -> Loader:
    return Loader(store, {"toy": ToyBundle()}, Ids(seed=1), Limits())


def toy(run: object) -> ToyMachine:
    machine = getattr(run, "machine", None)
    assert isinstance(machine, ToyMachine)
    return machine


async def counted(on: Rig, times: int) -> RunRow:
    run_id = await on.start(count(1_000_000))
    for number in range(times):
        await on.kernel.send(run_id, add(1, f"m-{number}"), f"k-{number}")
    await on.settle()
    return await on.row(run_id)


async def test_a_run_that_is_read_stands_where_the_live_one_stands():
    async with rig() as on:
        row = await counted(on, 5)
        live = on.kernel.run_cache.get(row.id)
        read = await loader(on.store).load(row, Epoch(0))
        assert live is not None
        assert read.machine.snapshot() == live.machine.snapshot()
        assert (read.state.seq, read.state.at, read.state.dump()) == (live.state.seq, live.state.at, live.state.dump())


async def test_a_run_can_be_read_as_it_was_after_any_event():
    async with rig() as on:
        row = await counted(on, 5)
        for upto in range(1, 8):
            read = await loader(on.store).load(row, Epoch(0), upto)
            assert read.state.seq == upto
            assert toy(read).state.counter == max(0, upto - 2)


async def test_reading_a_run_in_the_middle_of_a_decision_cuts_the_decision():
    async with rig() as on:
        run_id = await on.start(count(3))
        await on.send(run_id, add(3), "k")
        row = await on.row(run_id)
        [decided] = [row for row in await on.store.log(run_id) if row.count > 1 and row.seq > 1]
        read = await loader(on.store).load(row, Epoch(0), decided.seq)
        assert toy(read).state.counter == 3
        assert toy(read).state.begun


async def test_a_snapshot_and_the_events_after_it_are_the_same_as_all_events():
    async with rig(limits=Limits(max_queued_messages=10_000)) as on:
        row = await counted(on, 1_500)
        snapshot = await on.store.snapshot(row.id)
        assert snapshot is not None
        assert 1_000 <= snapshot.seq < 1_502
        live = on.kernel.run_cache.get(row.id)
        assert live is not None
        read = await loader(on.store).load(row, Epoch(0))
        assert read.machine.snapshot() == live.machine.snapshot()
        assert read.state.dump() == live.state.dump()


async def test_a_place_before_the_snapshot_can_still_be_read():
    async with rig() as on:
        row = await counted(on, 1_500)
        read = await loader(on.store).load(row, Epoch(0), 7)
        assert (read.state.seq, toy(read).state.counter) == (7, 5)


async def write_log(store: MemoryStore, *rows: LogRow) -> RunRow:
    run = builders.fresh()
    row = builders.row(run)
    await must(store, outside("run", create=row))
    leases = {lease.shard: lease.epoch for lease in await store.claim("me", builders.NOW, 64)}
    for log in rows:
        await must(store, Write(RUN, row.shard, leases[row.shard], log=log))
    return row


async def opened() -> MemoryStore:
    store = MemoryStore()
    await store.open()
    return store


async def test_an_event_of_a_newer_engine_is_refused_with_the_way_out():
    store = await opened()
    started = values.plain([RunStarted("toy", "toy", data={"program": []})])
    row = await write_log(store, LogRow(Seq(1), 1, NOW, started), LogRow(Seq(2), 1, NOW, b'[{"type":"tomorrow"}]'))
    with pytest.raises(Conflict) as caught:
        await loader(store).load(row, Epoch(0))
    assert caught.value.code == "kernel.unreadable_event"
    assert "event 2" in caught.value.what
    assert "tomorrow" in caught.value.why
    assert "newer" in caught.value.fix


async def test_an_event_with_a_field_this_engine_does_not_know_is_read():
    """A later release may add fields: an old reader passes over them."""
    store = await opened()
    body = b'[{"type":"run.started","dialect":"toy","definition":"toy","data":{"program":[]},"mood":"good"}]'
    row = await write_log(store, LogRow(Seq(1), 1, NOW, body))
    assert (await loader(store).load(row, Epoch(0))).state.started


async def test_a_snapshot_this_engine_can_not_read_is_passed_over():
    """It only saves time: the events are all there."""
    async with rig() as on:
        row = await counted(on, 1_100)
        db = on.store._db  # pyright: ignore[reportPrivateUsage]
        assert db is not None
        db.execute('update snapshots set body = \'{"kernel": {"status": "dreaming"}, "machine": 1}\'')
        read = await loader(on.store).load(row, Epoch(0))
        assert toy(read).state.counter == 1_100


async def test_a_run_of_a_dialect_that_is_not_there_says_so():
    store = await opened()
    row = await write_log(store)
    row.dialect = "afl"
    with pytest.raises(NotFound) as caught:
        await loader(store).load(row, Epoch(0))
    assert caught.value.code == "kernel.no_dialect"


async def test_large_values_are_read_back_into_their_events():
    async with rig(limits=Limits(blob_threshold=50), calls={"big": lambda: "x" * 100}) as on:
        run_id = await on.start(task("big"), count(1))
        await on.settle()
        row = await on.row(run_id)
        assert any(log.blobs for log in await on.store.log(run_id))
        read = await loader(on.store).load(row, Epoch(0))
        assert toy(read).state.outputs == ["x" * 100]


# -- for readers of any dialect --------------------------------------------------------------------------------------


async def test_readers_see_events_as_plain_data():
    async with rig(limits=Limits(blob_threshold=50), calls={"big": lambda: "x" * 100}) as on:
        run_id = await on.start(task("big"))
        await on.end(run_id)
        events = await recorded(on.store, run_id)
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        assert events[2].type == "move.ended"
        assert events[2].data == {"number": 0, "output": "x" * 100}
        assert all("type" not in event.data for event in events)


@pytest.mark.parametrize("after", [0, 1, 2, 4, 100])
@pytest.mark.parametrize("limit", [None, 1, 3])
@pytest.mark.parametrize("upto", [None, 0, 2, 3])
async def test_readers_get_just_the_part_of_the_log_they_ask_for(after: int, limit: int | None, upto: int | None):
    async with rig() as on:
        run_id = await on.start(task("a"), task("b"))
        await on.end(run_id)
        every = [event.seq for event in await recorded(on.store, run_id)]
        found = [event.seq for event in await recorded(on.store, run_id, after, limit, upto)]
        assert found == [seq for seq in every if seq > after and (upto is None or seq <= upto)][:limit]


def test_folding_what_a_live_run_recorded_gives_its_state():
    """The same, without a store."""
    live = builders.fresh()
    events = [*advance(live, start(task("a", attempts=2))).events]
    for input in (builders.failed("move:0"), done("move:0", attempt=2)):
        draft = builders.give(live, input)
        events += draft.events
    folded = builders.fresh()
    for event in events:
        folded.fold(event, NOW)
    assert folded.state.seq == live.state.seq
    assert folded.machine.snapshot() == live.machine.snapshot()
    assert folded.state.status == live.state.status


def test_the_last_event_says_how_it_ended():
    live = builders.started(task("a"))
    draft = advance(live, done("move:0"))
    assert isinstance(draft.events[-1], RunCompleted)
