"""A dialect with a bug: its run is blocked, nothing of it is lost, and nobody else notices."""

import asyncio
from typing import Any

import pytest

from plait.kernel import values
from plait.kernel.effects import Decision
from plait.kernel.errors import PlaitError
from plait.kernel.events import Event
from plait.kernel.ids import Millis, RunId
from plait.kernel.inputs import Cancel, ChildFinished, Message, Resume, TaskResult, TimerFired
from plait.kernel.machine import RunInfo
from plait.kernel.store import RunFilter
from plait.kernel.task import Task
from tests.kernel.builders import add
from tests.kernel.rig import Rig, rig
from tests.kernel.toy import Calls, Counted, Move, ToyBundle, ToyMachine, child, count, nap, task

BUG = "the machine has a bug"


class BuggyBundle(ToyBundle):
    """Raises where it is told to, until it is mended."""

    def __init__(self, where: str, calls: Calls | None = None) -> None:
        super().__init__(calls)
        self.where = where

    def machine(self, info: RunInfo) -> ToyMachine:
        return BuggyMachine(info, self)

    def fail_at(self, place: str, info: RunInfo) -> None:
        if self.where == place and info.run_id.startswith("buggy"):
            raise RuntimeError(BUG)


class BuggyMachine(ToyMachine):
    def __init__(self, info: RunInfo, dialect: BuggyBundle) -> None:
        super().__init__(info)
        self.dialect = dialect

    def decide(self, input: Any, now: Millis) -> Decision:
        if isinstance(input, Message):
            self.evolve(Counted("half", 1_000), now)  # a machine that fails half-way has changed already
        self.dialect.fail_at(type(input).__name__, self.info)
        if isinstance(input, Message):
            self.state.counter -= 1_000
            self.state.seen.pop()
            self.state.seq -= 1
        decision = super().decide(input, now)
        if self.dialect.where == "unstorable" and isinstance(input, Message) and self.info.run_id.startswith("buggy"):
            decision.events.append(Counted("\ud800", 0))
        return decision

    def evolve(self, event: Event, at: Millis) -> None:
        self.dialect.fail_at(f"evolve {type(event).__name__}", self.info)
        super().evolve(event, at)

    def pending(self, now: Millis, *, recovered: bool) -> list[Any]:
        self.dialect.fail_at("pending", self.info)
        return super().pending(now, recovered=recovered)

    def compensations(self) -> list[Task]:
        self.dialect.fail_at("compensations", self.info)
        return super().compensations()

    def backlog(self) -> int:
        self.dialect.fail_at("backlog", self.info)
        return super().backlog()


async def mend(on: Rig, run: RunId) -> None:
    assert isinstance(on.dialect, BuggyBundle)
    on.dialect.where = "nowhere"
    await on.ask(run, Resume("retry"))


async def must_be_blocked(on: Rig, run: RunId) -> None:
    row = await on.row(run)
    assert row.status == "running"
    assert row.blocked is not None
    assert row.blocked.code == "kernel.machine_error"
    outcome = await on.end(run)
    assert outcome.blocked == row.blocked


CASES: list[tuple[str, list[Move], Any]] = [
    (Message.__name__, [count(3)], {"counter": 3, "outputs": [3]}),
    ("unstorable", [count(3)], {"counter": 3, "outputs": [3]}),
    (TimerFired.__name__, [nap(5), count(3)], {"counter": 3, "outputs": ["rested", 3]}),
    (TaskResult.__name__, [task("a"), count(3)], {"counter": 3, "outputs": ["a", 3]}),
    (ChildFinished.__name__, [child(), count(3)], {"counter": 3, "outputs": [{"counter": 0, "outputs": []}, 3]}),
    ("evolve RunCompleted", [count(3)], {"counter": 3, "outputs": [3]}),
    ("pending", [count(3)], {"counter": 3, "outputs": [3]}),
]


@pytest.mark.parametrize(("where", "program", "output"), CASES, ids=[case[0] for case in CASES])
@pytest.mark.parametrize("restart", [False, True], ids=["retried", "restarted"])
async def test_a_run_whose_machine_fails_is_blocked_and_goes_on_when_it_is_mended(
    where: str, program: list[Move], output: Any, restart: bool, caplog: pytest.LogCaptureFixture
):
    dialect = BuggyBundle(where)
    # What is pending is asked when a run is loaded
    first = Rig(dialect=dialect, cache_size=0 if where == "pending" else 1000)
    await first.kernel.open()
    run, other = await first.start(*program, id="buggy"), await first.start(*program, id="well")
    for number in range(3):
        for target in (run, other):
            await first.kernel.send(target, add(1, f"m-{number}"), f"k-{number}")
    await first.clock.advance(10)
    assert (await first.output(other))["counter"] == 3
    await must_be_blocked(first, run)
    if not restart:
        await mend(first, run)
        assert await first.output(run) == output
        await first.kernel.close()
    else:
        await first.kernel.close()
        dialect.where = "nowhere"
        async with rig(first.store, dialect=dialect, clock=first.clock) as second:
            await second.settle()
            assert await second.output(run) == output
    assert BUG in caplog.text or "surrogates" in caplog.text
    await first.store.dispose()


async def test_a_run_whose_machine_can_not_start_it_is_not_made(caplog: pytest.LogCaptureFixture):
    async with rig(dialect=BuggyBundle("Start")) as on:
        with pytest.raises(PlaitError) as caught:
            await on.create(count(1), id="buggy")
        assert caught.value.code == "kernel.machine_error"
        assert BUG in caught.value.why
        assert await on.store.runs(RunFilter()) == []
        assert await on.create(count(1), id="well") == "ok"


async def test_a_run_that_another_process_started_is_blocked_when_its_machine_can_not_start_it(
    caplog: pytest.LogCaptureFixture,
):
    store_owner = Rig(dialect=BuggyBundle("Start"))
    await store_owner.kernel.open()
    async with rig(store_owner.store, own_shards=False, clock=store_owner.clock) as client:
        run = await client.start(count(0), id="buggy")
    await store_owner.kernel._news()  # pyright: ignore[reportPrivateUsage]
    await store_owner.settle()
    await must_be_blocked(store_owner, run)
    await mend(store_owner, run)
    assert await store_owner.output(run) == {"counter": 0, "outputs": [0]}
    await store_owner.kernel.close()
    await store_owner.store.dispose()


async def test_who_asks_a_machine_that_fails_is_told(caplog: pytest.LogCaptureFixture):
    async with rig(dialect=BuggyBundle("Resume")) as on:
        run = await on.start(count(1), id="buggy")
        async with asyncio.timeout(60):
            reply = await on.ask(run, Resume("retry"))
        assert reply is not None
        assert values.decode(reply)["error"]["code"] == "kernel.machine_error"


async def test_a_blocked_run_can_be_cancelled(caplog: pytest.LogCaptureFixture):
    async with rig(dialect=BuggyBundle("Message")) as on:
        run = await on.start(count(1), id="buggy")
        await on.send(run, add(1), "k")
        await must_be_blocked(on, run)
        await on.ask(run, Cancel("give up"))
        row = await on.row(run)
        assert (row.status, row.blocked) == ("cancelled", None)


async def test_a_message_a_blocked_run_could_not_take_is_taken_in_its_turn(caplog: pytest.LogCaptureFixture):
    async with rig(dialect=BuggyBundle("Message")) as on:
        run = await on.start(count(111), id="buggy")
        for number, amount in enumerate((1, 10, 100)):
            await on.send(run, add(amount, f"m-{number}"), f"k-{number}")
        await mend(on, run)
        assert (await on.output(run))["counter"] == 111
        counted = [row.events for row in await on.store.log(run)]
        order = [event["id"] for events in counted for event in values.decode(events) if event["type"] == "counted"]
        assert order == ["m-0", "m-1", "m-2"]


async def test_a_failing_compensation_list_blocks_and_does_not_kill_the_engine(caplog: pytest.LogCaptureFixture):
    async with rig(dialect=BuggyBundle("compensations")) as on:
        run = await on.start(task("pay", undo="refund"), count(1), id="buggy")
        await on.settle()
        reply = await on.ask(run, Cancel("enough", compensate=True))
        assert b"kernel.machine_error" in (reply or b"")
        await must_be_blocked(on, run)
        assert not on.kernel.dead.done()


async def test_steps_of_a_run_that_is_set_aside_are_stopped_and_started_again_later(caplog: pytest.LogCaptureFixture):
    begun: list[str] = []
    gate = asyncio.Event()

    async def slow() -> str:
        begun.append("slow")
        await gate.wait()
        return "ok"

    async with rig(dialect=BuggyBundle("Message", {"slow": slow})) as on:
        run = await on.start(task("slow"), id="buggy")
        await on.settle()
        await on.send(run, add(1), "k")
        await must_be_blocked(on, run)
        assert on.kernel.running == 0
        await mend(on, run)
        gate.set()
        assert (await on.output(run))["outputs"] == ["ok"]
        assert begun == ["slow", "slow"]
