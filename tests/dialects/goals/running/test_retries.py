"""Retries by the step's own rule, dead letters, and what is never tried again."""

from typing import Any

import pytest

from plait.dialects.goals.steps.builder import catalog_step
from plait.dialects.goals.steps.step import BackoffType
from tests.dialects.goals.running.bench import BenchRun, bench, boom, work


async def delays(run: BenchRun) -> list[int]:
    events = await (await run.handle()).events()
    return [event.data["due"] - event.at for event in events if event.type == "task.retry_scheduled"]


@pytest.mark.parametrize(
    ("backoff", "expected"),
    [
        ("fixed", [2000, 2000, 2000, 2000]),
        ("linear", [2000, 4000, 6000, 7000]),
        ("exponential", [2000, 4000, 7000, 7000]),
    ],
)
async def test_delays_grow_as_the_rule_says_up_to_the_cap(backoff: BackoffType, expected: list[int]):
    async with bench(work("a", "", "x").retries(4, first=2, cap=7, backoff=backoff)) as b:
        b.plays("a", boom(), boom(), boom(), boom(), {"x": 1})
        run = await b.start("a")
        await b.wait(100)
        assert await run.output() == {"x": 1}
        assert await delays(run) == expected


async def test_by_default_there_are_ten_retries_that_double_up_to_a_minute():
    async with bench(work("a", "", "x")) as b:
        b.plays("a", boom())
        run = await b.start("a")
        await b.wait(3600)
        assert await delays(run) == [1000, 2000, 4000, 8000, 16_000, 32_000, *[60_000] * 4]
        assert len(b.calls) == 11


async def test_an_exhausted_item_fails_and_is_a_dead_letter():
    async with bench(work("a", "", "x").retries(1, first=1)) as b:
        b.plays("a", boom("still not"))
        run = await b.start("a")
        await b.wait(1)
        assert (await run.tale())[3:] == [
            "retry_scheduled 1 in 1000: still not",
            "work_started a",
            "dead_letter",
            "work_failed a: still not",
            "step_failed a: still not",
            "flow_failed: goal step 'a' failed: still not",
        ]
        [letter] = await b.engine.dlq.list()
        assert (letter.attempts, letter.error.message) == (2, "still not")


@pytest.mark.costly
async def test_minus_one_is_tried_for_ever():
    async with bench(work("a", "", "x").retries(-1, first=1, cap=1, backoff="fixed")) as b:
        b.plays("a", boom())
        run = await b.start("a")
        await b.wait(200)
        assert await run.status() == "running"
        assert len(b.calls) == 201
        [reason] = await run.reasons()
        assert reason == "retry 201 of `a` at 2030-01-01 00:03:21 UTC: boom"


@pytest.mark.parametrize("never", [True, False], ids=["never", "a final error"])
async def test_what_is_not_retried_fails_at_once_without_a_dead_letter(never: bool):
    made = work("a", "", "x").no_retries() if never else work("a", "", "x")
    async with bench(made) as b:
        b.plays("a", boom("no", final=not never))
        run = await b.start("a")
        assert (await run.error()).message == "goal step 'a' failed: no"
        assert len(b.calls) == 1


async def test_a_script_error_is_permanent():
    async with bench(catalog_step("a").required("n").output("x").ale("(/ n 0)")) as b:
        run = await b.start("a", {"n": 1})
        assert (await run.error()).message.startswith("goal step 'a' failed: ")
        assert "retry_scheduled" not in str(await run.tale())


async def test_a_retry_keeps_its_time_over_a_restart_and_a_past_one_fires_now():
    async with bench(work("a", "", "x").retries(5, first=10, backoff="fixed")) as b:
        b.plays("a", boom(), boom(), {"x": 1})
        run = await b.start("a")
        await b.wait(4)
        await b.crash()
        await b.wait(5.9)
        assert len(b.calls) == 1
        await b.wait(0.1)
        assert len(b.calls) == 2
        await b.engine.kernel.crash()
        assert await _after_a_long_night(b, run) == {"x": 1}


async def _after_a_long_night(b: Any, run: BenchRun) -> Any:
    b.clock.settle = _at_once
    await b.clock.advance(3600)
    b.clock.settle = b.settle
    await b.store.release(b.engine.kernel.owner)
    await b.open()
    return await run.output()


async def _at_once() -> None: ...


async def test_a_crash_in_a_later_attempt_begins_that_attempt_again():
    async with bench(work("a", "", "x").retries(5, first=1)) as b:
        run = await b.start("a")
        await b.fail("a")
        await b.wait(1)
        assert len(b.waiting("a")) == 1
        await b.crash()
        await b.wait(1)
        assert len(b.calls) == 3
        await b.finish("a", x=1)
        assert await run.output() == {"x": 1}
        assert (await run.items("a"))[0].attempts == 1


async def test_waiting_says_which_retry_comes_when_and_why():
    async with bench(work("charge", "", "x").retries(10, first=131, cap=131)) as b:
        b.plays("charge", boom("card server is down"))
        run = await b.start("charge")
        assert await run.reasons() == ["retry 1 of 10 of `charge` at 2030-01-01 00:02:11 UTC: card server is down"]


async def test_active_items_run_again_after_a_crash_with_the_same_token():
    async with bench(work("a", "", "x").meta("key", "receipt_token")) as b:
        run = await b.start("a")
        await b.crash()
        [first, second] = b.inputs("a")
        assert first == second
        await b.finish("a", x=1)
        assert await run.output() == {"x": 1}


async def test_recorded_results_are_never_made_again():
    async with bench(work("a", "", "x"), work("b", "x", "y")) as b:
        run = await b.start("b")
        await b.finish("a", x=1)
        await b.crash()
        await b.crash()
        await b.finish("b", y=1)
        assert await run.output() == {"y": 1}
        assert b.ran().count("a") == 1


async def test_the_scripts_before_a_step_run_again_after_a_crash():
    async with bench(work("a", "n", "x").when("ale", "(> n 0)")) as b:
        run = await b.start("a", {"n": 1})
        await b.crash()
        await b.finish("a", x=1)
        assert await run.output() == {"x": 1}
        assert (await run.tale()).of("step_prepared") == ["step_prepared a"]
