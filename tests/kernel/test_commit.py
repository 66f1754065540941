"""Between deciding and acting lies a commit: what is ready goes to disk together, and nothing starts before."""

import asyncio
from collections.abc import Sequence

import pytest

from plait.kernel import values
from plait.kernel.errors import LeaseLost, Unavailable
from plait.kernel.ids import RunId, Shard, shard_of
from plait.kernel.inputs import Cancel, Resume
from plait.kernel.store import InboxRow, Verdict, Write
from plait.stores.memory import MemoryStore, Moment
from tests.kernel.builders import add
from tests.kernel.rig import CountingStore, Outage, Rig, SlowReads, rig, until
from tests.kernel.toy import child, count, nap, task, tell


@pytest.fixture(params=[False, True], ids=["one round at a time", "the next round is decided meanwhile"], autouse=True)
def ahead(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Nothing here depends on whether decisions wait for the commit before them."""
    monkeypatch.setattr(CountingStore, "commits_elsewhere", request.param)
    return request.param


def counting(on: Rig) -> CountingStore:
    assert isinstance(on.store, CountingStore)
    return on.store


def of(write: Write) -> str:
    return write.run_id


# -- group commit ----------------------------------------------------------------------------------------------------


async def test_a_hundred_starts_at_once_are_one_commit():
    async with rig() as on:
        before = len(counting(on).commits)
        await asyncio.gather(*(on.start(count(1), id=f"run-{number}") for number in range(100)))
        [batch] = counting(on).commits[before:]
        assert len(batch) == 100


async def test_a_hundred_messages_at_once_are_one_commit_to_send_and_one_to_take():
    async with rig() as on:
        runs = [await on.start(count(9), id=f"run-{number}") for number in range(100)]
        before = len(counting(on).commits)
        await asyncio.gather(*(on.kernel.send(run, add(1), "k") for run in runs))
        await on.settle()
        sent, *taken = counting(on).commits[before:]
        assert len(sent) == 100
        assert sum(map(len, taken)) == 100
        assert len(taken) <= 2


async def test_while_a_commit_is_under_way_new_inputs_gather_for_the_next():
    async with rig() as on:
        run = await on.start(count(1_000))
        store = counting(on)
        await on.kernel.send(run, add(1, "first"), "first")
        store.gate = asyncio.Event()
        sends = [asyncio.ensure_future(on.kernel.send(run, add(1, f"m-{n}"), f"k-{n}")) for n in range(50)]
        await until(lambda: on.kernel.loop.committing)
        before = len(store.commits)
        store.gate.set()
        await asyncio.gather(*sends)
        await on.settle()
        assert len(store.commits) - before <= 4


async def test_all_inputs_that_wait_for_a_run_are_one_write():
    async with rig() as on:
        run = await on.start(count(1_000))
        store = counting(on)
        await asyncio.gather(*(on.kernel.send(run, add(1, f"m-{n}"), f"k-{n}") for n in range(50)))
        await on.settle()
        [taking] = [write for batch in store.commits for write in batch if write.taken]
        assert taking.log is not None
        assert (taking.log.count, len(taking.taken)) == (50, 50)


# -- nothing starts before its commit --------------------------------------------------------------------------------


async def test_a_step_does_not_start_before_its_decision_is_on_disk():
    begun: list[str] = []
    async with rig(calls={"step": lambda: begun.append("step")}) as on:
        store = counting(on)
        store.gate = asyncio.Event()
        starting = asyncio.ensure_future(on.start(task("step")))
        await on.settle()
        assert (begun, starting.done()) == ([], False)
        store.gate.set()
        await on.end(await starting)
        assert begun == ["step"]


async def test_a_child_a_message_and_a_timer_are_in_the_same_write_as_the_events_that_tell_of_them():
    async with rig() as on:
        other = await on.start(count(5), id="other")
        run = await on.start(tell("other", 5), child(count(0)), nap(5))
        await on.output(run)
        await on.output(other)
        writes = [write for batch in counting(on).commits for write in batch if of(write) == run and write.log]
        [telling] = [write for write in writes if any(row.run_id == other for row in write.inbox)]
        [starting] = [write for write in writes if write.children]
        [napping] = [write for write in writes if write.timers]
        for write in (telling, starting, napping):
            assert write.log is not None
            assert b"move.begun" in write.log.events


async def test_an_effect_of_a_decision_that_never_reached_the_disk_never_happens():
    begun: list[str] = []
    store = CountingStore()
    crashed = Rig(store, calls={"step": lambda: begun.append("step")})
    await crashed.kernel.open()
    store.gate = asyncio.Event()
    starting = asyncio.ensure_future(crashed.start(task("step")))
    await crashed.settle()
    await crashed.kernel.crash()
    with pytest.raises(LeaseLost):
        await starting
    assert begun == []
    await store.dispose()


# -- a store that is away --------------------------------------------------------------------------------------------


async def test_a_caller_whose_run_could_not_be_stored_is_told():
    async with rig() as on:
        counting(on).away = True
        with pytest.raises(Unavailable, match="away"):
            await on.start(count(1))
        counting(on).away = False
        assert await on.create(count(1)) == "ok"


async def test_a_caller_whose_message_could_not_be_stored_is_told_and_may_send_it_again():
    async with rig() as on:
        run = await on.start(count(2))
        counting(on).away = True
        with pytest.raises(Unavailable, match="away"):
            await on.kernel.send(run, add(2), "k")
        counting(on).away = False
        await on.send(run, add(2), "k")
        assert (await on.output(run))["counter"] == 2


async def test_a_result_is_owed_to_the_log_and_gets_there_when_the_store_is_back():
    gate = asyncio.Event()
    calls: list[str] = []

    async def step() -> str:
        calls.append("step")
        await gate.wait()
        return "done"

    async with rig(calls={"step": step}) as on:
        run = await on.start(task("step"))
        await until(lambda: bool(calls))
        counting(on).away = True
        gate.set()
        await on.settle()
        for _ in range(20):
            await on.clock.advance(1)
        assert (await on.row(run)).status == "running"
        counting(on).away = False
        assert (await on.output(run))["outputs"] == ["done"]
        assert calls == ["step"]


async def test_who_starts_a_run_while_something_else_is_owed_is_told_too():
    gate = asyncio.Event()
    async with rig(calls={"step": gate.wait}) as on:
        await on.start(task("step"), id="first")
        await on.settle()
        counting(on).away = True
        gate.set()
        await on.settle()
        starting = asyncio.ensure_future(on.start(count(1), id="second"))
        sending = asyncio.ensure_future(on.kernel.send(RunId("first"), add(1), "k"))
        await on.clock.advance(5)
        assert starting.done()
        assert sending.done()
        for caller in (starting, sending):
            with pytest.raises(Unavailable):
                await caller
        counting(on).away = False
        await on.output(RunId("first"))


async def test_a_timer_that_comes_due_while_the_store_can_not_be_read_fires_later():
    class Blind(CountingStore):
        blind = False

        async def due(self, *args: object) -> list[object]:  # pyright: ignore[reportIncompatibleMethodOverride]
            if self.blind:
                raise Unavailable("store.away", "the store is away")
            return await super().due(*args)  # pyright: ignore[reportArgumentType, reportReturnType]

    store = Blind()
    async with rig(store) as on:
        run = await on.start(nap(1_000), nap(1_000))
        store.blind = True
        await on.clock.advance(5)
        store.blind = False
        assert (await on.output(run))["outputs"] == ["rested", "rested"]
    await store.dispose()


async def test_a_message_that_is_stored_while_the_inbox_can_not_be_read_is_taken_later():
    class Blind(CountingStore):
        blind = False

        async def inbox(self, *args: object) -> list[object]:  # pyright: ignore[reportIncompatibleMethodOverride]
            if self.blind:
                raise Unavailable("store.away", "the store is away")
            return await super().inbox(*args)  # pyright: ignore[reportArgumentType, reportReturnType]

    store = Blind()
    async with rig(store) as on:
        run = await on.start(count(2))
        store.blind = True
        await on.send(run, add(2), "k")
        store.blind = False
        await on.clock.advance(2)
        assert (await on.row(run)).status == "completed"
    await store.dispose()


async def test_a_run_that_can_not_be_read_when_its_message_comes_is_read_later():
    class Blind(CountingStore):
        blind = False

        async def log(self, *args: object, **more: object) -> list[object]:  # pyright: ignore[reportIncompatibleMethodOverride]
            if self.blind:
                raise Unavailable("store.away", "the store is away")
            return await super().log(*args, **more)  # pyright: ignore[reportArgumentType, reportReturnType]

    store = Blind()
    async with rig(store, cache_size=0) as on:
        run = await on.start(count(3))
        store.blind = True
        await on.send(run, add(1, "a"), "a")
        await on.send(run, add(1, "b"), "b")
        await on.clock.advance(3)
        store.blind = False
        await on.send(run, add(1, "c"), "c")
        await on.clock.advance(3)
        assert (await on.row(run)).status == "completed"
    await store.dispose()


@pytest.mark.parametrize("moment", ["before", "inside", "after"])
async def test_a_takeover_during_an_outage_leaves_no_run_behind(moment: Moment):
    """The leases are there, but what they bring can't be read at first."""

    class Blind(CountingStore):
        failing = 0

        async def recovering(self, shards: object) -> list[object]:  # pyright: ignore[reportIncompatibleMethodOverride]
            self._fail()
            return await super().recovering(shards)  # pyright: ignore[reportArgumentType, reportReturnType]

        async def snapshot(self, run_id: RunId) -> object:  # pyright: ignore[reportIncompatibleMethodOverride]
            self._fail()
            return await super().snapshot(run_id)

        def _fail(self) -> None:
            self.failing -= 1
            if self.failing >= 0 and (moment == "before" or self.failing % 2):
                raise Unavailable("store.away", "the store is away")

    store = Blind()
    first = Rig(store, calls={"step": asyncio.Event().wait})
    await first.kernel.open()
    runs = [await first.start(task("step"), id=f"run-{number}") for number in range(5)]
    await first.settle()
    await first.kernel.crash()
    await store.release("rig")
    store.failing = 6
    async with rig(store, clock=first.clock) as second:
        await second.clock.advance(30)
        for run in runs:
            assert (await second.output(run))["outputs"] == ["step"]
    await store.dispose()


# -- a commit whose answer is lost -----------------------------------------------------------------------------------


async def test_a_run_that_was_made_although_its_caller_heard_otherwise_goes_on():
    store = MemoryStore()
    async with rig(store) as on:
        store.faults = Outage("after")
        with pytest.raises(Unavailable):
            await on.start(task("step"))
        assert (await on.output(RunId("run")))["outputs"] == ["step"]
    await store.dispose()


async def test_a_message_that_was_stored_although_its_sender_heard_otherwise_is_taken_once():
    store = MemoryStore()
    async with rig(store) as on:
        run = await on.start(count(2))
        store.faults = Outage("after")
        with pytest.raises(Unavailable):
            await on.kernel.send(run, add(1, "a"), "a")
        await on.send(run, add(1, "a"), "a")
        await on.send(run, add(1, "b"), "b")
        assert (await on.output(run))["counter"] == 2
    await store.dispose()


class LosesAnswers:
    """Every commit that holds something of this run is made, and its first answer lost."""

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id
        self._lost: set[int] = set()

    def __call__(self, moment: Moment, writes: Sequence[Write]) -> None:
        for write in writes:
            place = 0 if write.log is None else write.log.seq
            ours = of(write) == self._run_id and write.epoch is not None
            if moment == "after" and ours and place not in self._lost:
                self._lost.add(place)
                raise Unavailable("store.away", "the answer was lost")


async def test_a_run_all_whose_commits_lose_their_answers_ends_as_if_none_did(caplog: pytest.LogCaptureFixture):
    """Each of its writes is tried again and refused, since it is there already; nothing that came with it is missed."""
    store = MemoryStore()
    async with rig(store, calls={"big": lambda: "x" * 100_000}) as on:
        other = await on.start(count(5), id="other")
        run = await on.start(count(1), task("big"), nap(1_000), child(task("a"), nap(10)), tell("other", 5), task("b"))
        store.faults = LosesAnswers(run)
        waiting = asyncio.ensure_future(on.kernel.outcome(run))
        await on.send(run, add(1), "k")
        for _ in range(60):
            await on.clock.advance(1)
        assert waiting.done()
        assert (await on.output(run))["outputs"] == [
            1,
            "x" * 100_000,
            "rested",
            {"counter": 0, "outputs": ["a", "rested"]},
            None,
            "b",
        ]
        assert (await on.output(other))["counter"] == 5
        types = await on.types(run)
        assert types.count("counted") == 1
        assert types.count("move.ended") == 6
    await store.dispose()


async def test_who_asked_gets_the_answer_that_was_stored_before_it_was_lost(caplog: pytest.LogCaptureFixture):
    store = MemoryStore()
    async with rig(store) as on:
        run = await on.start(count(2))
        store.faults = LosesAnswers(run)
        asking = asyncio.ensure_future(on.ask(run, add(1), "k"))
        await on.clock.advance(10)
        assert asking.done() or asking.cancel()
        assert not asking.cancelled()
    await store.dispose()


# -- a commit that is refused ----------------------------------------------------------------------------------------


async def test_a_run_whose_log_has_moved_on_is_read_again_and_loses_no_input(caplog: pytest.LogCaptureFixture):
    async with rig() as on:
        run = await on.start(count(3))
        refused: list[str] = []

        def once(write: Write) -> Verdict | None:
            if refused or not write.taken:
                return None
            refused.append(of(write))
            return "conflict"

        counting(on).refusing = once
        for number in range(3):
            await on.kernel.send(run, add(1, f"m-{number}"), f"k-{number}")
        await on.settle()
        assert refused == [run]
        assert (await on.output(run))["counter"] == 3
        assert "has moved on" in caplog.text


async def test_a_fenced_commit_drops_every_run_of_the_shard(caplog: pytest.LogCaptureFixture):
    begun: list[str] = []
    gate = asyncio.Event()

    async def step() -> None:
        begun.append("step")
        try:
            await gate.wait()
        finally:
            begun.append("stopped")

    async with rig(calls={"step": step}) as on:
        run = await on.start(task("step"))
        await on.settle()
        db = on.store._db  # pyright: ignore[reportPrivateUsage]
        assert db is not None
        db.execute("update shards set epoch = epoch + 1, owner = 'another' where shard = ?", (shard_of(run),))
        await on.send(run, add(1), "k")
        await until(lambda: begun == ["step", "stopped"])
        assert on.kernel.run_cache.get(run) is None
        assert not on.kernel.owns(run)
        assert on.kernel.owns(RunId("another-shard"))
        assert f"lost shard {shard_of(run)}" in caplog.text


async def test_a_refusal_by_an_old_epoch_does_not_take_a_shard_that_was_won_back(caplog: pytest.LogCaptureFixture):
    """The write was decided before the shard was lost, and refused after it was regained."""
    async with rig() as on:
        run = await on.start(count(2))
        store, shard = counting(on), shard_of(run)
        await on.kernel.send(run, add(1, "a"), "a")
        store.gate = asyncio.Event()
        await until(lambda: on.kernel.loop.committing)
        ownership = on.kernel._ownership  # pyright: ignore[reportPrivateUsage]
        await store.release("rig", [Shard(shard)])
        await ownership.refresh()
        assert on.kernel.owns(run)
        store.gate.set()
        store.gate = None
        await on.settle()
        assert on.kernel.owns(run)
        await on.send(run, add(1, "b"), "b")
        assert (await on.output(run))["counter"] == 2


async def test_work_of_a_run_that_was_lost_during_its_commit_is_not_started_here(caplog: pytest.LogCaptureFixture):
    begun: list[str] = []
    async with rig(calls={"step": lambda: begun.append("step")}) as on:
        run = await on.start(count(1), task("step"))
        store = counting(on)
        store.held = lambda write: bool(write.taken)
        await on.kernel.send(run, add(1), "k")
        await until(lambda: store.holding)
        live = on.kernel.run_cache.get(run)
        assert live is not None
        on.kernel._ownership.forget(live.shard, live.epoch)  # pyright: ignore[reportPrivateUsage]
        store.release_held()
        await on.settle()
        assert begun == []
        assert on.kernel.running == 0


async def test_who_waits_for_a_run_that_is_lost_during_its_last_commit_is_told(caplog: pytest.LogCaptureFixture):
    async with rig() as on:
        run = await on.start(count(1))
        store = counting(on)
        store.held = lambda write: write.patch is not None and write.patch.status == "completed"
        waiting = asyncio.ensure_future(on.kernel.outcome(run))
        await on.kernel.send(run, add(1), "k")
        await until(lambda: store.holding)
        live = on.kernel.run_cache.get(run)
        assert live is not None
        on.kernel._ownership.forget(live.shard, live.epoch)  # pyright: ignore[reportPrivateUsage]
        await on.settle()
        store.release_held()
        async with asyncio.timeout(60):
            assert (await waiting).status == "completed"


async def test_a_caller_that_gave_up_waiting_harms_nobody():
    async with rig() as on:
        store = counting(on)
        store.gate = asyncio.Event()
        starting = asyncio.ensure_future(on.create(count(1)))
        await on.settle()
        starting.cancel()
        await asyncio.gather(starting, return_exceptions=True)
        store.gate.set()
        await on.settle()
        assert await on.create(count(1)) == "exists"
        assert await on.create(count(1), id="other") == "ok"


async def test_after_a_cancelled_wait_for_an_answer_the_input_still_counts():
    async with rig() as on:
        run = await on.start(count(1))
        asking = asyncio.ensure_future(on.ask(run, Cancel("enough")))
        await asyncio.sleep(0)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        await on.settle()
        assert (await on.row(run)).status in ("cancelled", "running")
        await on.ask(run, Resume("retry"), "later")


async def test_what_comes_for_a_run_while_its_id_is_started_again_is_not_lost():
    async with rig(cache_size=0) as on:
        run = await on.start(count(1))
        await on.settle()  # it is parked, on disk only
        store = counting(on)
        store.held = lambda write: write.create is not None
        again = asyncio.ensure_future(on.create(count(1)))
        await until(lambda: store.holding)
        row = InboxRow(run, shard_of(run), "k", values.plain(add(1)), on.clock.now())
        await MemoryStore.commit(store, [Write(run, row.shard, None, inbox=[row])])  # by another process
        await on.kernel._news()  # pyright: ignore[reportPrivateUsage]
        store.release_held()
        async with asyncio.timeout(60):
            assert await again == "exists"
            assert (await on.output(run))["counter"] == 1


async def test_a_run_that_is_started_again_because_the_answer_was_lost_goes_on():
    """It may be there, so it is read; and what was read meets the second start, which is refused."""
    store = SlowReads()
    reading = store.reading = asyncio.Event()
    async with rig(store) as on:
        store.faults = Outage("after")
        with pytest.raises(Unavailable):
            await on.create(task("step"))
        store.held = lambda write: write.create is not None
        again = asyncio.ensure_future(on.create(task("step")))
        await until(lambda: store.holding)
        reading.set()
        await until(lambda: not on.kernel.run_cache.loading)
        store.release_held()
        async with asyncio.timeout(60):
            assert await again == "exists"
            assert (await on.output(RunId("run")))["outputs"] == ["step"]
    await store.dispose()
