"""What a new owner takes up: every run that was awake, but none that would take the others down with it."""

import asyncio
from collections.abc import Callable, Collection
from typing import Any

import pytest

from plait.kernel import values
from plait.kernel.errors import PlaitError, Unavailable
from plait.kernel.events import Event
from plait.kernel.ids import Millis, RunId, Shard, TaskToken
from plait.kernel.inputs import Loaded, Resume, TimerFired
from plait.kernel.limits import Limits
from plait.kernel.machine import RunInfo
from plait.kernel.store import SUSPECT_AFTER, LogRow, RunRow
from plait.kernel.task import Policy, Task
from plait.testing import VirtualClock
from tests.kernel.builders import NOW, add, done, failed, fresh, give, row, start, started, tokens, types
from tests.kernel.rig import CountingStore, Rig, rig
from tests.kernel.toy import Calls, Move, ToyBundle, ToyMachine, ask, child, count, nap, task, tell


def recovered(run: Any, recoveries: int = 1) -> Any:
    """The run as another process reads it from the log after so many crashes."""
    again = fresh(limits=Limits(max_recoveries=5))
    again.machine.restore(run.machine.snapshot())  # pyright: ignore[reportAttributeAccessIssue]
    again.state.restore(run.state.dump(), run.state.seq, run.state.at)
    stored = row(again)
    stored.recoveries = recoveries
    again.adopt(stored)
    return again


# -- one run ---------------------------------------------------------------------------------------------------------


def test_a_task_under_way_when_the_process_died_is_started_again():
    draft = give(recovered(started(task("a"))), Loaded("wake"))
    assert tokens(draft) == ["move:0"]
    assert draft.events == []


def test_a_task_goes_on_with_the_attempt_it_was_in():
    run = started(task("a", attempts=3))
    give(run, failed("move:0"))
    draft = give(recovered(run), Loaded("wake"), now=NOW + 60_000)
    assert draft.tasks[0].attempt == 2


def test_a_retry_that_is_to_come_is_waited_for_again():
    run = started(task("a", attempts=3))
    give(run, failed("move:0"))
    draft = give(recovered(run), Loaded("wake"), now=NOW)
    assert draft.tasks == []
    assert [(timer.token, timer.due) for timer in draft.write.timers] == [("~retry:move:0", NOW + 1_000)]


@pytest.mark.parametrize("move", [nap(5_000), ask("boss"), child(count(1))], ids=["timer", "approval", "child"])
def test_what_must_be_under_way_is_asked_for_again_and_written(move: Move):
    draft = give(recovered(started(move)), Loaded("wake"))
    assert draft.write.timers or draft.write.approvals or draft.unresolved


def test_a_run_that_has_ended_takes_nothing_up():
    draft = give(recovered(started()), Loaded("wake"))
    assert (draft.events, draft.tasks) == ([], [])


def test_a_run_that_makes_progress_is_not_suspect_any_more():
    run = recovered(started(task("a"), task("b")), recoveries=3)
    give(run, Loaded("wake"))
    draft = give(run, done("move:0"))
    assert draft.write.patch is not None
    assert draft.write.patch.recoveries == 0


def test_a_task_that_was_there_at_every_crash_is_not_started_again():
    run = recovered(started(task("a")), recoveries=6)
    draft = give(run, Loaded("wake"))
    assert tokens(draft) == []
    assert types(draft.events) == ["task.dead_lettered", "run.failed"]
    [letter] = draft.write.dead_letters or []
    assert letter.error.code == "kernel.task_interrupted"
    assert "6 times" in letter.error.message


def test_at_the_bound_itself_it_still_gets_its_chance():
    assert tokens(give(recovered(started(task("a")), recoveries=5), Loaded("wake"))) == ["move:0"]


def test_a_task_may_say_that_interrupted_means_failed():
    class Fragile(ToyMachine):
        def _task(self, token: TaskToken, move: Move) -> Task:
            found = super()._task(token, move)
            found.policy = Policy(recoveries=0)
            return found

    run = fresh(Fragile(fresh().info))
    machine = started(task("a")).machine
    run.machine.restore(machine.snapshot())  # pyright: ignore[reportAttributeAccessIssue]
    run.state.started = True
    stored = row(run)
    stored.recoveries = 1
    run.adopt(stored)
    assert "task.dead_lettered" in types(give(run, Loaded("wake")).events)


def test_attempts_of_tasks_that_are_long_settled_are_forgotten():
    run = fresh()
    for event in _events_of_a_retried_task():
        run.fold(event, NOW)
    assert run.state.tasks.facts() != {}
    give(run, Loaded("wake"))
    assert run.state.tasks.facts() == {}
    assert run.state.dump().attempts == []


def _events_of_a_retried_task() -> list[Event]:
    live = fresh()
    events = [*give(live, start(task("a", attempts=2), count(9))).events]
    events += give(live, failed("move:0")).events
    events += give(live, done("move:0", attempt=1)).events
    events += give(live, TimerFired(TaskToken("~retry:move:0"))).events
    events += give(live, done("move:0", attempt=2)).events
    events += give(live, Loaded("wake")).events
    return events


# -- an engine -------------------------------------------------------------------------------------------------------


class Deadly:
    """A step that is under way whenever the process dies."""

    def __init__(self) -> None:
        self.began: list[str] = []

    def step(self, name: str) -> Any:
        async def step() -> str:
            self.began.append(name)
            await asyncio.Event().wait()
            return name

        return step


async def crash(on: Rig) -> None:
    await on.kernel.crash()
    await on.store.release("rig")


async def test_a_step_that_kills_its_process_is_given_up_after_some_tries(caplog: pytest.LogCaptureFixture):
    deadly, clock = Deadly(), VirtualClock()
    store = CountingStore(clock=clock)
    calls: Calls = {"deadly": deadly.step("deadly")}
    on = Rig(store, calls=calls, clock=clock)
    await on.kernel.open()
    run = await on.start(task("deadly"))
    for _ in range(20):
        await on.clock.advance(5)
        if (await on.row(run)).status != "running":
            break
        await crash(on)
        on = Rig(store, calls=calls, clock=clock)
        await on.kernel.open()
    found = await on.row(run)
    assert found.status == "failed"
    assert found.error is not None
    assert found.error.code == "kernel.task_interrupted"
    assert len(deadly.began) <= 8
    assert f"each of the last {SUSPECT_AFTER} times" in caplog.text
    await on.kernel.close()
    await store.dispose()


async def test_neighbours_of_a_deadly_step_are_not_given_up_with_it(caplog: pytest.LogCaptureFixture):
    """After some crashes the suspects are started one at a time, so that those who are innocent make progress."""
    deadly, clock = Deadly(), VirtualClock()
    store = CountingStore(clock=clock)

    class Process(Rig):
        """Dies a moment after the deadly step began."""

        @property
        def dying(self) -> bool:
            return bool(deadly.began)

    async def quick() -> str:
        for _ in range(50):
            await asyncio.sleep(0)
        return "ok"

    calls: Calls = {"deadly": deadly.step("deadly"), "quick": quick}
    on = Process(store, calls=calls, clock=clock)
    await on.kernel.open()
    killer = await on.start(task("deadly"), id="killer")
    innocent = [await on.start(task("quick"), id=f"innocent-{number}") for number in range(10)]
    for _ in range(30):
        for _ in range(500):
            await asyncio.sleep(0)
            if on.dying:
                break
        if on.dying:
            deadly.began.clear()
            await crash(on)
            on = Process(store, calls=calls, clock=clock)
            await on.kernel.open()
        else:
            await on.clock.advance(1)
    assert (await on.row(killer)).status == "failed"
    for run in innocent:
        assert (await on.row(run)).status == "completed"
    await on.kernel.close()
    await store.dispose()


async def test_an_engine_that_closes_in_peace_makes_nobody_suspect():
    """A step that takes longer than the time between two deployments is not what kills the process."""
    deadly, clock = Deadly(), VirtualClock()
    store = CountingStore(clock=clock)
    for _ in range(10):
        async with rig(store, calls={"slow": deadly.step("slow")}, clock=clock) as on:
            if not deadly.began:
                await on.start(task("slow"))
            await on.clock.advance(5)
    async with rig(store, calls={"slow": lambda: "ok"}, clock=clock) as on:
        assert (await on.output(RunId("run")))["outputs"] == ["ok"]
    await store.dispose()


class ListsLate(CountingStore):
    """Something happens between the list of runs to take over and their reading."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.meanwhile: list[Callable[[], object]] = []
        self.reads = 0
        self.unreadable = 0
        """How many reads of a log fail."""

    async def recovering(self, shards: Collection[Shard]) -> list[RunRow]:
        found = await super().recovering(shards)
        if found and self.meanwhile:
            asyncio.get_running_loop().call_soon(self.meanwhile.pop())
        return found

    async def log(self, *of: Any, **more: Any) -> list[LogRow]:
        self.reads += 1
        if self.unreadable:
            self.unreadable -= 1
            raise Unavailable("store.away", "the store is away")
        return await super().log(*of, **more)


async def left_under_way(store: ListsLate, clock: VirtualClock) -> list[RunId]:
    """Two runs whose owner died."""
    on = Rig(store, clock=clock, calls={"slow": Deadly().step("slow")})
    await on.kernel.open()
    runs = [await on.start(task("slow"), count(1), id=id) for id in ("one", "two")]
    await on.settle()
    await crash(on)
    return runs


async def test_an_input_that_comes_while_a_run_is_being_taken_over_loads_it_only_once():
    clock = VirtualClock()
    store = ListsLate(clock=clock)
    one, two = await left_under_way(store, clock)
    on = Rig(store, clock=clock, calls={"slow": lambda: "ok"})
    store.meanwhile.append(lambda: on.kernel.delivery.deliver(one, add(1), "k"))
    store.reads = 0
    await on.kernel.open()
    await on.settle()
    assert store.reads == 2
    await on.send(two, add(1), "k")
    for run in (one, two):
        assert (await on.output(run))["outputs"][0] == "ok"
    await on.kernel.close()
    await store.dispose()


async def test_a_takeover_that_is_tried_again_reads_the_row_again():
    """The run may have been elsewhere for the time of the outage."""
    clock = VirtualClock()
    store = ListsLate(clock=clock)
    one, two = await left_under_way(store, clock)
    store.unreadable = 2
    on = Rig(store, clock=clock, calls={"slow": Deadly().step("slow")})
    await on.kernel.open()
    db = store._db  # pyright: ignore[reportPrivateUsage]
    assert db is not None
    db.execute("update runs set recoveries = 4 where id = ?", (one,))
    await on.clock.advance(5)
    assert {run.id: run.recoveries for run in on.kernel.run_cache.all()} == {one: 4, two: 1}
    await on.kernel.close()
    await store.dispose()


# -- runs that can not be read ---------------------------------------------------------------------------------------


NUMBER = "(select number from runs where id = ?)"


async def strange(store: CountingStore, run: RunId) -> None:
    """As if a newer release had written to the log of a run."""
    db = store._db  # pyright: ignore[reportPrivateUsage]
    assert db is not None
    [(seq,)] = db.execute(f"select max(seq + count) from log where run = {NUMBER}", (run,)).fetchall()
    body = '[{"type":"telepathy"}]'
    db.execute(f"insert into log (run, seq, count, at, events) values ({NUMBER}, ?, 1, ?, ?)", (run, seq, NOW, body))


async def forget_strange(store: CountingStore, run: RunId) -> None:
    db = store._db  # pyright: ignore[reportPrivateUsage]
    assert db is not None
    db.execute(f"delete from log where run = {NUMBER} and events like '%telepathy%'", (run,))


async def test_a_run_that_can_not_be_read_is_blocked_and_its_neighbours_go_on(caplog: pytest.LogCaptureFixture):
    store, clock = CountingStore(), VirtualClock()
    async with rig(store, clock=clock) as on:
        run = await on.start(count(2), id="strange")
        others = [await on.start(count(2), id=f"other-{number}") for number in range(5)]
        for each in (run, *others):
            await on.send(each, add(1, "a"), "a")
    await strange(store, run)
    async with rig(store, clock=clock) as on:
        for each in (run, *others):
            await on.send(each, add(1, "b"), "b")
        for other in others:
            assert (await on.output(other))["counter"] == 2
        outcome = await on.end(run)
        assert outcome.blocked is not None
        assert outcome.blocked.code == "kernel.unreadable_event"
        async with asyncio.timeout(60):
            reply = await on.ask(run, Resume("retry"), "r")
        assert values.decode(reply or b"")["error"]["code"] == "kernel.unreadable_event"
        assert "strange" in caplog.text
    await forget_strange(store, run)  # an engine that can read it
    async with rig(store, clock=clock) as on:
        await on.settle()
        assert (await on.output(run))["counter"] == 2
        assert (await on.row(run)).blocked is None
    await store.dispose()


async def test_an_awake_run_that_can_not_be_read_does_not_keep_the_engine_from_opening(
    caplog: pytest.LogCaptureFixture,
):
    store, clock, deadly = CountingStore(), VirtualClock(), Deadly()
    async with rig(store, clock=clock, calls={"slow": deadly.step("slow")}) as on:
        run = await on.start(task("slow"), id="strange")
        other = await on.start(task("slow"), id="other")
        await on.settle()
    await strange(store, run)
    async with rig(store, clock=clock) as on:
        assert (await on.output(other))["outputs"] == ["slow"]
        assert (await on.row(run)).blocked is not None
    await store.dispose()


async def test_a_dialect_with_a_bug_in_its_fold_harms_its_own_runs_only(caplog: pytest.LogCaptureFixture):
    class Broken(ToyBundle):
        def machine(self, info: RunInfo) -> ToyMachine:
            machine = super().machine(info)
            if info.run_id == "strange":
                machine.evolve = _raise  # pyright: ignore[reportAttributeAccessIssue]
            return machine

    store, clock = CountingStore(), VirtualClock()
    async with rig(store, clock=clock) as on:
        run, other = await on.start(count(1), id="strange"), await on.start(count(1), id="other")
    async with rig(store, clock=clock, dialect=Broken()) as on:
        for each in (run, other):
            await on.send(each, add(1), "k")
        assert (await on.output(other))["counter"] == 1
        assert (await on.row(run)).blocked is not None
    async with rig(store, clock=clock) as on:
        await on.settle()
        assert (await on.output(run))["counter"] == 1
    await store.dispose()


def _raise(event: Event, at: Millis) -> None:
    raise KeyError("a fold with a bug")


async def test_a_run_of_a_dialect_this_engine_does_not_have_waits_for_one_that_has(caplog: pytest.LogCaptureFixture):
    store, clock = CountingStore(), VirtualClock()
    async with rig(store, clock=clock) as on:
        run = await on.start(count(1))
    other = ToyBundle()
    other.name = "another"
    async with rig(store, clock=clock, dialect=other) as on:
        await on.send(run, add(1), "k")
        assert (await on.row(run)).blocked is not None
        with pytest.raises(PlaitError):
            await on.kernel.peek(await on.row(run))
    async with rig(store, clock=clock) as on:
        await on.settle()
        assert (await on.output(run))["counter"] == 1
    await store.dispose()


async def test_undeliverable_messages_leave_nothing_in_memory():
    async with rig() as on:
        ended = await on.start(id="ended")
        for number in range(10):
            run = await on.start(tell(f"nobody-{number}", 1), tell("ended", 1), id=f"teller-{number}")
            await on.output(run)
        assert len(await on.store.dead_letters(None)) == 20
        assert (await on.row(ended)).status == "completed"
        assert on.kernel._inbox._taking == set()  # pyright: ignore[reportPrivateUsage]
        assert on.kernel.run_cache.all() == []


async def test_runs_that_move_to_another_engine_in_peace_are_not_suspect_there():
    deadly, clock = Deadly(), VirtualClock()
    store = CountingStore(clock=clock)
    calls: Calls = {"slow": deadly.step("slow")}
    async with rig(store, calls=calls, clock=clock, owner="one", ttl=Millis(9_000)) as one:
        runs = [await one.start(task("slow"), id=f"run-{number}") for number in range(20)]
        for _ in range(8):
            async with rig(store, calls=calls, clock=clock, owner="two", ttl=Millis(9_000)) as two:
                for _ in range(4):
                    await clock.advance(3)
                    await one.settle()
                    await two.settle()
            for _ in range(4):
                await clock.advance(3)
                await one.settle()
        for run in runs:
            assert (await one.row(run)).status == "running"
            assert (await one.row(run)).recoveries <= 1
    await store.dispose()
