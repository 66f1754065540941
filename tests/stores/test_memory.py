"""The memory store: outlives engines, and fails when it is told to, before, inside or after a commit."""

from collections.abc import Sequence
from typing import Any

import pytest

from plait.kernel.errors import Unavailable
from plait.kernel.ids import SHARDS, Millis, RunId
from plait.kernel.store import Write
from plait.stores.memory import MemoryStore, Moment
from tests.contract.stores.builders import LONG, create, log_row, must, outside, own_all, run_row

RUN = RunId("run")


class Crash(BaseException):
    """The process is gone: nothing may catch this by accident."""


def failing(at: Moment, error: BaseException):
    def faults(moment: Moment, writes: Sequence[Write]) -> None:
        if moment == at:
            raise error

    return faults


@pytest.mark.parametrize("error", [Crash(), Unavailable("store.unreachable", "gone")], ids=["crash", "unavailable"])
@pytest.mark.parametrize(("moment", "written"), [("before", False), ("inside", False), ("after", True)])
async def test_a_commit_fails_where_it_is_told_to(moment: Moment, written: bool, error: BaseException):
    store = MemoryStore(faults=failing(moment, error))
    await store.open()
    with pytest.raises(type(error)) as caught:
        await store.commit([outside("run", create=run_row())])
    assert caught.value is error
    store.faults = None
    assert (await store.run(RUN) is not None) == written
    assert await store.commit([outside("run", create=run_row())]) == ["exists" if written else "ok"]
    await store.dispose()


async def test_the_number_of_a_run_that_was_rolled_back_is_not_remembered():
    store = MemoryStore(faults=failing("inside", Unavailable("store.unreachable", "gone")))
    await store.open()
    owner = await own_all(store)
    with pytest.raises(Unavailable):
        await store.commit([owner.write("run", create=run_row(), log=log_row(1))])
    store.faults = None
    await must(store, owner.write("other", create=run_row("other"), log=log_row(1)))  # has the number now
    assert await store.commit([owner.write("run", log=log_row(2))]) == ["conflict"]
    await must(store, owner.write("run", create=run_row(), log=log_row(1)))
    assert await store.log(RUN) == await store.log(RunId("other")) == [log_row(1)]
    await store.dispose()


async def test_faults_are_asked_three_times_a_commit_and_see_its_writes():
    seen: list[tuple[Moment, list[RunId]]] = []
    store = MemoryStore(faults=lambda moment, writes: seen.append((moment, [write.run_id for write in writes])))
    await store.open()
    await must(store, outside("a", create=run_row("a")), outside("b", create=run_row("b")))
    assert seen == [("before", ["a", "b"]), ("inside", ["a", "b"]), ("after", ["a", "b"])]
    await store.claim("owner", LONG, SHARDS)
    assert len(seen) == 3
    await store.dispose()


async def test_a_fault_inside_rolls_back_writes_that_had_to_be_told_apart():
    store = MemoryStore()
    await store.open()
    await create(store, "run")
    store.faults = failing("inside", Crash())
    with pytest.raises(Crash):
        await store.commit([outside("run", create=run_row()), outside("new", create=run_row("new"))])
    store.faults = None
    assert await store.run(RunId("new")) is None
    await store.dispose()


async def test_everything_is_there_for_the_next_engine_until_the_store_is_disposed_of():
    store = MemoryStore()
    await store.open()
    owner = await own_all(store)
    await must(store, owner.write("run", create=run_row(), log=log_row(1)))
    await store.close()
    await store.open()
    assert await store.log(RUN) == [log_row(1)]
    await store.dispose()
    await store.open()
    assert await store.run(RUN) is None
    await store.dispose()


async def test_leases_run_out_by_the_clock_that_was_given():
    clock = HandClock()
    store = MemoryStore(clock=clock)
    await store.open()
    await own_all(store, "a", Millis(1_000))
    clock.time += 999
    assert await store.claim("b", LONG, SHARDS) == []
    clock.time += 1
    await own_all(store, "b", Millis(1_000))
    await store.dispose()


async def test_commits_stay_on_the_thread_of_the_loop_however_slow_they_are(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("plait.stores.sqlite.store.SLOW_COMMIT", -1.0)
    store = MemoryStore()
    await store.open()
    await own_all(store)
    assert (await store.facts())["commits on"] == "the event loop's thread"
    await store.dispose()


async def test_engines_that_share_a_store_are_counted_while_they_renew():
    clock = HandClock()
    store = MemoryStore(clock=clock)
    await store.open()
    assert (await store.renew("a", Millis(1_000))).engines == 1
    clock.time += 600
    assert (await store.renew("b", Millis(1_000))).engines == 2
    clock.time += 600
    assert (await store.renew("b", Millis(1_000))).engines == 1
    await store.release("b")
    assert (await store.renew("c", Millis(1_000))).engines == 1
    await store.dispose()


class HandClock:
    def __init__(self) -> None:
        self.time = 1_000

    def now(self) -> Millis:
        return Millis(self.time)

    def monotonic(self) -> float:
        return self.time / 1000

    def call_later(self, seconds: float, callback: object) -> "HandClock":
        return self

    def call_at(self, due: Millis, callback: object) -> "HandClock":
        return self

    def cancel(self) -> None: ...


async def test_a_store_that_was_disposed_of_leaves_nothing_to_the_next_one():
    everything = "select name from pragma_table_list where schema = 'main' and type = 'table'"

    async def contents(store: MemoryStore) -> dict[Any, Any]:
        await store.open()
        db = store._db  # pyright: ignore[reportPrivateUsage]
        assert db is not None
        return {name: db.execute(f"select * from {name}").fetchall() for (name,) in db.execute(everything).fetchall()}

    first = MemoryStore()
    empty = await contents(first)
    owner = await own_all(first)
    await must(first, owner.write("run", create=run_row(), log=log_row(1)))
    await first.dispose()
    second = MemoryStore()
    assert await contents(second) == empty
    assert await second.run(RUN) is None
    owner = await own_all(second)
    await must(second, owner.write("run", create=run_row(), log=log_row(1)))
    await second.dispose()
