"""`run_workflow`: passes, alarms, messages, eviction, and what is refused."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from plait import Context, step, workflow
from plait.code import Driver, SqliteDriver, run_workflow
from plait.embedding.drivers.lmdb import LmdbDriver
from plait.embedding.keys import pack
from plait.errors import Conflict, HistoryDivergedError, RunFailed
from plait.testing import MemoryDriver, VirtualClock
from tests.dialects.code.support import refused

Make = Callable[[str], Driver]


@pytest.fixture(params=["memory", "sqlite", "lmdb"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Make]:
    """Drivers of one place, for several runs."""
    if request.param == "memory":
        yield lambda _: MemoryDriver()
    elif request.param == "sqlite":
        made: list[SqliteDriver] = []

        def sqlite(run: str) -> Driver:
            made.append(SqliteDriver(tmp_path / "kv.db", run))
            return made[-1]

        yield sqlite
        for driver in made:
            driver.close()
    else:
        environment = LmdbDriver.environment(tmp_path / "kv", size=1 << 24)
        yield lambda run: LmdbDriver(environment, run)
        environment.close()


@step
async def add(a: int, b: int) -> int:
    return a + b


@workflow
async def order(ctx: Context, n: int) -> list[Any]:
    total = await ctx.step("add", add, n, 1)
    message = await ctx.listen("go")
    await ctx.sleep("nap", 60)
    return [total, message and message.body]


# -- drivers -----------------------------------------------------------------------------------------------------


async def test_keys_are_listed_in_order_and_by_exact_prefix(make: Make) -> None:
    driver, other = make("a"), make("ab")
    await driver.batch([(b"\x02b", b"2"), (b"\x02", b"1"), (b"\x03", b"4"), (b"\x02b\x00", b"3"), (b"\xff\xff", b"5")])
    await other.set(b"\x02b", b"other")
    assert [value for _, value in await driver.list(b"")] == [b"1", b"2", b"3", b"4", b"5"]
    assert await driver.list(b"\x02b") == [(b"\x02b", b"2"), (b"\x02b\x00", b"3")]
    await driver.delete_prefix(b"\x02b")
    await driver.batch([(b"\x03", None), (b"\x04", b"6")])
    assert await driver.list(b"") == [(b"\x02", b"1"), (b"\x04", b"6"), (b"\xff\xff", b"5")]
    assert (await driver.get(b"\x04"), await driver.get(b"\x09"), await other.get(b"\x02b")) == (b"6", None, b"other")


async def test_a_run_goes_on_from_pass_to_pass(make: Make) -> None:
    driver, clock = make("o-1"), VirtualClock()
    handle = run_workflow("o-1", order, 4, driver, clock=clock)
    result = await handle
    assert (result.state, result.sleep_until, result.waiting_for) == ("sleeping", None, ["go"])
    await handle.message("go", {"by": "ada"})
    result = await run_workflow("o-1", order, 4, driver, clock=clock)
    assert (result.state, result.sleep_until, result.waiting_for) == ("sleeping", clock.now() + 60_000, [])
    await clock.advance(60)
    handle = run_workflow("o-1", order, 4, driver, clock=clock)
    assert (await handle).output == [5, {"by": "ada"}]
    assert (await handle.state(), await handle.output()) == ("completed", [5, {"by": "ada"}])
    assert [entry.at for entry in await handle.history()] == ["add", "go", "nap"]


# -- passes ------------------------------------------------------------------------------------------------------


async def test_a_pass_that_has_nothing_to_do_writes_nothing() -> None:
    driver, clock = MemoryDriver(), VirtualClock()
    await run_workflow("o-1", order, 4, driver, clock=clock)
    before, batches = dict(driver.pairs), driver.batches
    for _ in range(3):
        await run_workflow("o-1", order, 4, driver, clock=clock)
    assert (driver.pairs, driver.batches) == (before, batches)


async def test_the_keys_are_those_of_the_layout() -> None:
    driver = MemoryDriver()
    await run_workflow("o-1", order, 4, driver, clock=VirtualClock())
    names = [value for key, value in sorted(driver.pairs.items()) if key.startswith(pack(1))]
    assert names == [b"\x03add", b"\x02go"]
    assert {key for key in driver.pairs if key.startswith(pack(2))} == {pack(2, 0), pack(2, 1)}
    assert driver.pairs[pack(4, 1)] == b"sleeping"
    assert driver.pairs[pack(4, 5)] == b"\x04"
    entry = driver.pairs[pack(2, 0)]
    assert entry[:2] == b"\x01\x00"
    assert pack(5, entry[3:39].decode()) in driver.pairs


async def test_live_mode_goes_on_by_itself() -> None:
    driver, clock = MemoryDriver(), VirtualClock()
    handle = run_workflow("o-1", order, 4, driver, "live", clock=clock)
    await clock.advance(1)
    await handle.message("go", 1)
    await clock.advance(61)
    assert (await handle).output == [5, 1]


async def test_messages_sent_before_the_start_are_there() -> None:
    driver, clock = MemoryDriver(), VirtualClock()
    other = MemoryDriver()
    handle = run_workflow("o-1", order, 4, other, clock=clock)
    await handle
    await handle.message("go", "early")
    for key, value in await other.list(pack(3)):
        await driver.set(key, value)
    result = await run_workflow("o-1", order, 4, driver, clock=clock)
    assert result.sleep_until is not None


async def test_an_evicted_run_is_taken_up_elsewhere() -> None:
    driver, clock = MemoryDriver(), VirtualClock()
    handle = run_workflow("o-1", order, 4, driver, "live", clock=clock)
    await clock.advance(1)
    await handle.evict()
    await handle.message("go", 1)
    assert (await handle).state == "running"
    assert pack(4, 6) in driver.pairs
    result = await run_workflow("o-1", order, 4, driver, clock=clock)
    assert (result.state, pack(4, 6) in driver.pairs) == ("sleeping", False)
    await clock.advance(60)
    assert (await run_workflow("o-1", order, 4, driver, clock=clock)).output == [5, 1]


async def test_a_pass_that_only_waits_is_evicted_at_once() -> None:
    driver, clock = MemoryDriver(), VirtualClock()
    handle = run_workflow("o-1", order, 4, driver, "live", clock=clock)
    await clock.advance(1)
    await handle.evict()
    await clock.advance(1)
    assert (await handle).state == "running"
    assert (await run_workflow("o-1", order, 4, driver, clock=clock)).waiting_for == ["go"]


def test_an_unknown_mode_is_refused() -> None:
    with refused("CODE_BAD_OPTION", "mode='lively'"):
        run_workflow("o-1", order, 4, MemoryDriver(), "lively")  # type: ignore[arg-type]


async def test_a_run_that_undid_its_work_says_what_an_embedded_run_can_do() -> None:
    @workflow
    async def w(ctx: Context) -> None:
        await ctx.step("reserve", lambda: 1, rollback=lambda undo: None)
        raise ValueError("full")

    handle = run_workflow("o-1", w, None, MemoryDriver(), clock=VirtualClock())
    with pytest.raises(RunFailed):
        await handle
    with refused("CODE_ROLLED_BACK", "To fix: start a new run"):
        await handle.recover()


async def test_a_completed_run_gives_its_output_and_runs_no_code() -> None:
    calls: list[int] = []

    async def w(ctx: Context) -> int:
        calls.append(1)
        return 7

    driver = MemoryDriver()
    for _ in range(2):
        assert (await run_workflow("w", w, None, driver)).output == 7
    assert calls == [1]


async def test_a_failed_run_raises_until_it_is_recovered() -> None:
    attempts: list[int] = []

    @workflow
    async def w(ctx: Context) -> int:
        async def work() -> int:
            attempts.append(1)
            if len(attempts) == 1:
                raise ValueError("no")
            return len(attempts)

        return await ctx.step("work", work, max_attempts=1)

    driver = MemoryDriver()
    with pytest.raises(RunFailed, match="no"):
        await run_workflow("w", w, None, driver)
    handle = run_workflow("w", w, None, driver)
    with pytest.raises(RunFailed, match="no"):
        await handle
    await handle.recover()
    assert (await handle).output == 2


async def test_a_cancelled_run_stays_so() -> None:
    driver, clock = MemoryDriver(), VirtualClock()
    handle = run_workflow("o-1", order, 4, driver, clock=clock)
    await handle
    await handle.cancel("enough")
    for _ in range(2):
        with pytest.raises(RunFailed, match="enough"):
            await run_workflow("o-1", order, 4, driver, clock=clock)
    with pytest.raises(RunFailed, match="enough"):
        await handle
    assert await handle.state() == "cancelled"
    assert not driver.alarms


async def test_a_run_is_rewound() -> None:
    ledger: list[str] = []

    def does(what: str) -> Callable[[], str]:
        return lambda: ledger.append(what) or what

    @workflow
    async def w(ctx: Context) -> list[Any]:
        first = await ctx.step("a", does("a"))
        message = await ctx.listen("go")
        return [first, await ctx.step("b", does("b")), message and message.body]

    driver = MemoryDriver()
    handle = run_workflow("w", w, None, driver)
    await handle
    await handle.message("go", 1)
    handle = run_workflow("w", w, None, driver)
    assert (await handle).output == ["a", "b", 1]
    await handle.rewind("b")
    assert (await handle).output == ["a", "b", 1]
    assert ledger == ["a", "b", "b"]
    await handle.rewind()
    assert (await handle).output == ["a", "b", 1]  # what was sent is not unsent
    assert ledger == ["a", "b", "b", "a", "b"]
    with pytest.raises(Conflict, match="nothing is recorded at `c`"):
        await handle.rewind("c")


async def test_code_that_does_not_fit_blocks_and_loses_nothing() -> None:
    @workflow(name="order")
    async def other(ctx: Context, n: int) -> None:
        await ctx.sleep("nap", 1)

    driver, clock = MemoryDriver(), VirtualClock()
    await run_workflow("o-1", order, 4, driver, clock=clock)
    with pytest.raises(HistoryDivergedError, match="add"):
        await run_workflow("o-1", other, 4, driver, clock=clock)
    handle = run_workflow("o-1", order, 4, driver, clock=clock)
    assert (await handle).waiting_for == ["go"]


async def test_what_needs_an_engine_says_so() -> None:
    @workflow
    async def w(ctx: Context) -> str:
        for asking in (
            lambda: ctx.child("c", order, 1),
            lambda: ctx.start_child("s", order, 1),
            lambda: ctx.approve("a"),
            lambda: ctx.send("m", "other", "go"),
            lambda: ctx.step("q", add, 1, 2, queue="gpu"),
        ):
            with refused("CODE_NEEDS_ENGINE", "needs an Engine"):
                asking()
        return "ok"

    assert (await run_workflow("w", w, None, MemoryDriver())).output == "ok"


async def test_the_alarm_is_set_before_the_wait_is_written() -> None:
    order_of: list[str] = []

    class Watched(MemoryDriver):
        async def batch(self, writes: Any) -> None:
            order_of.append("sleeping" if (pack(4, 1), b"sleeping") in writes else "batch")
            await super().batch(writes)

        async def set_alarm(self, workflow_id: str, wake_at_ms: int) -> None:
            order_of.append("alarm")
            await super().set_alarm(workflow_id, wake_at_ms)

    @workflow
    async def w(ctx: Context) -> None:
        await ctx.sleep("nap", 60)

    await run_workflow("w", w, None, Watched(), clock=VirtualClock())
    assert order_of == ["alarm", "sleeping"]


async def test_an_input_that_does_not_fit_starts_nothing() -> None:
    driver = MemoryDriver()
    with refused("CODE_INPUT_INVALID", "does not fit `order`"):
        await run_workflow("o-1", order, "x", driver)
    assert not driver.pairs


async def test_passes_of_many_runs_are_apart(make: Make) -> None:
    runs = [run_workflow(f"r-{n}", order, n, make(f"r-{n}"), clock=VirtualClock()) for n in range(5)]
    await asyncio.gather(*(run.result() for run in runs))
    assert [bytes((await run.history())[0].output) for run in runs] == [b"1", b"2", b"3", b"4", b"5"]
