"""`survives_every_crash`: what it tries, and what it finds."""

import asyncio
import itertools

import pytest

from plait import Context, CriticalError, afl, step_info, workflow
from plait.testing import CrashFailure, Effects, Sim, SimRun, sim, survives_every_crash

from .flows import double, doubled, hopeless, listener, order, regretted


async def say_hello(sim: Sim, run: SimRun) -> None:
    await sim.clock.advance(60)
    await run.message("word", "hello")


async def test_every_moment_of_every_commit_is_tried_with_the_cache_on_and_off():
    report = await survives_every_crash(doubled, 21)
    assert (report.status, report.output) == ("completed", 42)
    assert report.crashes == 2 * 3 * report.commits
    assert str(report) == f"`doubled` completed alike after each of {report.crashes} crashes ({report.commits} commits)"


def test_it_is_one_call_in_a_plain_test():
    assert asyncio.run(survives_every_crash(doubled, 1)).output == 2


async def test_a_workflow_with_everything_in_it_survives():
    report = await survives_every_crash(order, 3, say_hello, definitions=[doubled])
    assert report.output["said"] == "hello"
    assert report.crashes > 100


async def test_messages_of_a_script_arrive_once_however_often_they_are_sent():
    async def say_twice(sim: Sim, run: SimRun) -> None:
        await run.message("word", "once", id="m-1")
        await run.message("word", "again", id="m-1")

    assert (await survives_every_crash(listener, script=say_twice)).output == "once"


async def test_a_script_may_cancel_and_crash():
    async def cancel(sim: Sim, run: SimRun) -> None:
        await sim.crash()
        await run.cancel("enough")

    assert (await survives_every_crash(listener, script=cancel)).status == "cancelled"


async def test_a_run_that_fails_must_fail_alike():
    assert (await survives_every_crash(hopeless)).status == "failed"
    assert (await survives_every_crash(regretted)).status == "failed"


async def test_a_workflow_that_remembers_outside_its_history_is_caught():
    seen: list[str] = []

    @workflow
    async def forgetful(ctx: Context) -> int:
        async def note() -> None:
            if step_info().idempotency_key not in seen:
                seen.append(step_info().idempotency_key)

        await ctx.step("note", note)
        return calls()

    def calls() -> int:
        seen.append("asked")
        return len(seen)

    with pytest.raises(CrashFailure, match="changed how `forgetful` ends"):
        await survives_every_crash(forgetful)


async def test_a_workflow_that_changes_its_mind_on_replay_is_caught():
    turns: list[int] = []

    @workflow
    async def fickle(ctx: Context) -> int:
        turns.append(1)
        await ctx.step(f"turn {len(turns)}", double, 1)
        await ctx.sleep("nap", 1)
        return 1

    with pytest.raises(CrashFailure, match="blocked"):
        await survives_every_crash(fickle)


async def test_an_effect_that_has_another_key_after_a_crash_is_caught():
    effects = Effects()
    drawn = itertools.count()

    @workflow(name="restless")
    async def restless(ctx: Context) -> None:
        async def act() -> None:
            effects.note(f"call {next(drawn)}")

        await ctx.step("act", act)

    with pytest.raises(CrashFailure, match="changed how `restless` ends"):
        await survives_every_crash(restless, effects=effects)


async def test_effects_are_told_with_their_keys_each_once():
    effects = Effects()

    @workflow(name="steady")
    async def steady(ctx: Context) -> None:
        async def act() -> None:
            effects.note("act")

        await ctx.step("act", act)

    await survives_every_crash(steady, effects=effects)
    assert (effects.names, effects.of("act")) == (["act"], ["run:act:0"])


async def test_what_happens_to_children_is_compared_too():
    seen: list[str] = []

    @workflow(name="forgetful-child")
    async def child(ctx: Context) -> None:
        async def act() -> None:
            seen.append("asked")
            if len(seen) > 1:
                raise CriticalError("not twice")

        await ctx.step("act", act)

    @workflow(name="careless")
    async def careless(ctx: Context) -> None:
        await ctx.start_child("child", child, None)

    with pytest.raises(CrashFailure, match="changed how `careless` ends"):
        await survives_every_crash(careless, definitions=[child])


async def test_a_simulation_waits_for_a_child_that_is_compiled_in_a_thread():
    source = "namespace t { workflow W() => (n: Long = 3) }  // seen by no other test"

    @workflow(name="compiles")
    async def compiles(ctx: Context) -> object:
        return await ctx.child("program", afl(source, "t.W"), {})

    async with sim([compiles]) as found:
        assert await found.run(compiles) == {"n": 3}
