"""Steps and workflows that behave as badly as they can: the engine lives, and says who it was."""

import asyncio
import gc
import logging
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from plait import Context, Engine, workflow
from plait.errors import RunFailed
from plait.kernel.watchdog import Watchdog
from tests.engine.flows import echo
from tests.engine.places import Place, until


class Odd(BaseException):
    pass


def exits() -> None:
    sys.exit(3)


def odd() -> None:
    raise Odd("odd")


def stops() -> None:
    next(iter([]))


async def exits_later() -> None:
    await asyncio.sleep(0)
    sys.exit(3)


async def cancels_itself() -> None:
    raise asyncio.CancelledError


async def closes_itself() -> None:
    raise GeneratorExit


@pytest.mark.parametrize("step", [exits, odd, stops, exits_later, cancels_itself, closes_itself])
async def test_a_step_that_tries_to_take_the_process_down_only_fails(place: Place, step: Callable[[], Any]):
    @workflow
    async def work(ctx: Context) -> None:
        await ctx.step("deadly", step, max_attempts=1)

    async with place.engine(work) as engine:
        run, other = await engine.start(work), await engine.start(echo, 1)
        async with asyncio.timeout(5):
            with pytest.raises(RunFailed):
                await run.result()
        assert await other.result() == 1
        assert await (await engine.start(echo, 2)).result() == 2


@pytest.mark.parametrize("raised", [SystemExit(3), Odd("odd"), KeyboardInterrupt(), GeneratorExit(), StopIteration()])
async def test_a_workflow_that_raises_what_it_should_not_only_fails(place: Place, raised: BaseException):
    @workflow
    async def work(ctx: Context) -> None:
        await ctx.step("fine", lambda: 1)
        raise raised

    async with place.engine(work) as engine:
        run, other = await engine.start(work), await engine.start(echo, 1)
        async with asyncio.timeout(5):
            with pytest.raises(RunFailed):
                await run.result()
        assert await other.result() == 1
        assert not engine.kernel.dead.done()


async def test_a_step_whose_error_can_not_be_printed_still_fails(place: Place):
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    async def step() -> None:
        raise Mute

    @workflow
    async def work(ctx: Context) -> None:
        await ctx.step("mute", step, max_attempts=1, timeout=None)

    async with place.engine(work) as engine:
        async with asyncio.timeout(5):
            with pytest.raises(RunFailed, match="Mute"):
                await (await engine.start(work)).result()


async def test_a_step_that_gives_something_that_can_not_be_stored_fails_with_its_place(place: Place):
    @workflow
    async def work(ctx: Context) -> None:
        await ctx.step("open", lambda: {"conn": object()})

    async with place.engine(work) as engine:
        with pytest.raises(RunFailed) as caught:
            await (await engine.start(work)).result()
        assert "$.conn" in str(caught.value)


async def test_a_name_that_can_not_be_stored_harms_nobody_else(place: Place):
    @workflow
    async def work(ctx: Context) -> None:
        await ctx.step("\ud800", lambda: 1)

    async with place.engine(work) as engine:
        other = await engine.start(echo, 1)
        run = await engine.start(work)
        async with asyncio.timeout(5):
            with pytest.raises(RunFailed, match="name"):
                await run.result()
        assert await other.result() == 1
        assert await (await engine.start(echo, 2)).result() == 2


# -- code that blocks ------------------------------------------------------------------------------------------------


@pytest.fixture
def quick_watchdog(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plait.kernel.watchdog._BEAT", 0.01)
    monkeypatch.setattr("plait.engine.engine.Watchdog", lambda name_of: Watchdog(name_of, limit=0.05))  # pyright: ignore[reportUnknownLambdaType]


def block(caplog: pytest.LogCaptureFixture) -> None:
    """Holds up the event loop until the watchdog has said so."""
    end = time.monotonic() + 5
    while "blocked" not in caplog.text and time.monotonic() < end:
        time.sleep(0.001)


@pytest.mark.usefixtures("quick_watchdog")
async def test_a_step_that_blocks_the_event_loop_is_named(caplog: pytest.LogCaptureFixture):
    async def stubborn() -> None:
        block(caplog)

    @workflow
    async def work(ctx: Context) -> None:
        await ctx.step("stubborn", stubborn)

    with caplog.at_level(logging.WARNING, "plait.watchdog"):
        async with Engine("memory:", definitions=[work]) as engine:
            await (await engine.start(work, id="o-1")).result()
    assert "step `stubborn` of run o-1" in caplog.text
    assert "test_dying_steps.py" in caplog.text


@pytest.mark.usefixtures("quick_watchdog")
async def test_a_run_id_with_a_colon_does_not_confuse_the_watchdog(caplog: pytest.LogCaptureFixture):
    async def stubborn() -> None:
        block(caplog)

    @workflow
    async def work(ctx: Context) -> None:
        await ctx.step("stubborn:1", stubborn)

    with caplog.at_level(logging.WARNING, "plait.watchdog"):
        async with Engine("memory:", definitions=[work]) as engine:
            await (await engine.start(work, id="order:7")).result()
    assert "step `stubborn:1` of run order:7" in caplog.text


@pytest.mark.usefixtures("quick_watchdog")
async def test_a_workflow_that_blocks_the_event_loop_is_named(caplog: pytest.LogCaptureFixture):
    @workflow
    async def stubborn(ctx: Context) -> None:
        block(caplog)

    with caplog.at_level(logging.WARNING, "plait.watchdog"):
        async with Engine("memory:", definitions=[stubborn]) as engine:
            await (await engine.start(stubborn)).result()
    assert "a workflow function" in caplog.text
    assert "test_dying_steps.py" in caplog.text


@pytest.mark.usefixtures("quick_watchdog")
async def test_a_plain_step_that_takes_its_time_is_no_reason_to_complain(caplog: pytest.LogCaptureFixture):
    @workflow
    async def work(ctx: Context) -> None:
        await ctx.step("slow", lambda: time.sleep(0.2))

    with caplog.at_level(logging.WARNING, "plait.watchdog"):
        async with Engine("memory:", definitions=[work]) as engine:
            await (await engine.start(work)).result()
    # A machine that stands still for a moment is complained of, too; but not as this step's doing
    assert not [
        record for record in caplog.records if "slow" in record.getMessage() or "test_dying" in record.getMessage()
    ]


@pytest.mark.usefixtures("quick_watchdog")
async def test_the_same_blockage_is_reported_once(caplog: pytest.LogCaptureFixture):
    async def stubborn() -> None:
        time.sleep(0.3)

    @workflow
    async def work(ctx: Context) -> None:
        await ctx.step("stubborn", stubborn)

    with caplog.at_level(logging.WARNING, "plait.watchdog"):
        async with Engine("memory:", definitions=[work]) as engine:
            await (await engine.start(work)).result()
    assert len([record for record in caplog.records if record.name == "plait.watchdog"]) == 1


# -- nothing is left behind ------------------------------------------------------------------------------------------


async def test_runs_that_are_dropped_and_cancelled_leave_no_coroutine_unawaited(place: Place):
    @workflow
    async def work(ctx: Context) -> None:
        async def branch(ctx: Context) -> None:
            await ctx.sleep("nap", 3600)

        await ctx.join("both", a=branch, b=branch)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        async with place.engine(work, code_cache=1) as engine:
            runs = [await engine.start(work) for _ in range(5)]
            for _ in range(20):
                await asyncio.sleep(0)
            for run in runs[:3]:
                await run.cancel()
        gc.collect()
    assert [str(warning.message) for warning in caught if "never awaited" in str(warning.message)] == []
    assert [str(warning.message) for warning in caught if issubclass(warning.category, ResourceWarning)] == []


async def test_an_operation_that_is_not_awaited_is_named_and_warns_nobody_else(place: Place):
    @workflow
    async def work(ctx: Context) -> None:
        ctx.step("forgotten", lambda: 1)  # pyright: ignore[reportUnusedCoroutine]

    async with place.engine(work) as engine:
        with pytest.raises(RunFailed, match="forgotten"):
            await (await engine.start(work)).result()


async def test_a_finished_engine_leaves_no_task_on_the_loop(place: Place):
    before = asyncio.all_tasks()
    async with place.engine() as engine:
        await (await engine.start(echo, 1)).result()
    await until(lambda: asyncio.all_tasks() <= before)
