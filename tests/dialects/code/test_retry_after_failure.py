"""A retry goes on with all that the failure stopped, and waits for nothing that can't come."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from plait import Context, CriticalError, Loop, workflow
from plait.errors import HistoryDivergedError, RunFailed

from .conftest import Simulate
from .support import Ledger, deploy

Body = Callable[[Context], Awaitable[Any]]


class Repairable:
    """A step that fails until it is repaired."""

    def __init__(self) -> None:
        self.broken = True
        self.calls = 0

    async def __call__(self) -> str:
        self.calls += 1
        if self.broken:
            raise CriticalError("broken")
        return "ok"


@pytest.fixture
def fragile() -> Repairable:
    return Repairable()


def _group(fragile: Repairable, how: str) -> Body:
    async def group(ctx: Context) -> list[Any]:
        ops = [ctx.step("f", fragile), ctx.sleep("nap", 60), ctx.listen("m"), ctx.child("c", kid)]
        if how == "gather":
            found = await asyncio.gather(*ops)
        else:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(op) for op in ops]  # type: ignore[arg-type]
            found = [task.result() for task in tasks]
        return [found[0], found[2].body, found[3]]

    return group


@workflow
async def kid(ctx: Context) -> str:
    await ctx.sleep("grow", 100)
    return "kid"


async def _at_the_root(ctx: Context, group: Body) -> Any:
    return await group(ctx)


async def _in_a_loop(ctx: Context, group: Body) -> Any:
    async def body(c: Context) -> Any:
        return Loop.break_(await group(c))

    return await ctx.loop("l", body)


async def _in_a_join(ctx: Context, group: Body) -> Any:
    return (await ctx.join("j", a=group, b=lambda c: c.sleep("s", 1))).a


async def _in_a_race(ctx: Context, group: Body) -> Any:
    return (await ctx.race("r", a=group)).value


async def _beside_a_body(ctx: Context, group: Body) -> Any:
    """The failure cancels a whole loop in the middle of its work."""

    async def count(c: Context, n: int) -> Any:
        await c.sleep("pause", 10)
        return Loop.continue_(n + 1) if n < 20 else Loop.break_(n)

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(ctx.loop("count", count, state=0, commit_interval=2))  # type: ignore[arg-type]
        found = tasks.create_task(group(ctx))  # type: ignore[arg-type]
    return found.result()


@pytest.mark.parametrize("how", ["gather", "group"])
@pytest.mark.parametrize("where", [_at_the_root, _in_a_loop, _in_a_join, _in_a_race, _beside_a_body])
async def test_siblings_that_a_failure_cancelled_go_on(
    where: Callable[[Context, Body], Awaitable[Any]], how: str, fragile: Repairable, simulate: Simulate
) -> None:
    @workflow
    async def w(ctx: Context) -> Any:
        return await where(ctx, _group(fragile, how))

    async with simulate([kid]) as s:
        run = await s.start(w)
        for _ in range(2):  # the second time too
            with pytest.raises(RunFailed):
                await s.result(run)
            fragile.broken = fragile.calls < 2
            await run.retry()
        await s.settle()
        await run.message("m", 1)
        assert await s.result(run) == ["ok", 1, "kid"]
        (await run.history()).assert_recorded_once()


@pytest.mark.parametrize("plain", [False, True])
async def test_a_timeout_around_the_failure_is_armed_again_with_what_was_left_of_it(
    plain: bool, fragile: Repairable, simulate: Simulate
) -> None:
    @workflow
    async def w(ctx: Context) -> str:
        try:
            async with asyncio.timeout(100) if plain else ctx.timeout("t", 100):
                await ctx.sleep("before", 40)
                await ctx.step("f", fragile)
                await ctx.listen("never")
        except TimeoutError:
            return ctx.now().isoformat()
        return "never"

    async with simulate() as s:
        run = await s.start(w)
        with pytest.raises(RunFailed):
            await s.result(run)
        fragile.broken = False
        await s.clock.advance(86_400)
        await run.retry()
        assert await s.result(run) == "2030-01-02T00:01:40+00:00"  # 60 seconds after the retry


async def test_what_only_the_failure_led_to_is_not_asked_for(fragile: Repairable, simulate: Simulate) -> None:
    ledger = Ledger()

    @workflow
    async def w(ctx: Context) -> str:
        try:
            found = await ctx.step("f", fragile)
        except CriticalError:
            await ctx.step("clean", ledger.does("clean"))
            await ctx.step("again", fragile)
            raise
        return await ctx.step("after", ledger.does("after", found))

    async with simulate() as s:
        run = await s.start(w)
        for _ in range(2):
            with pytest.raises(RunFailed):
                await s.result(run)
            fragile.broken = fragile.calls < 4
            await run.retry()
        assert await s.result(run) == "ok"
        assert ledger == ["clean", "after"]
        assert fragile.calls == 5
        history = await run.history()
        history.assert_recorded_once()
        history.assert_fits_its_code()


async def _either(ctx: Context, fragile: Repairable, slowly: Callable[[], Awaitable[str]]) -> str:
    """Fails by `a` at first; `b` fails a second later, and is what fails it when it is played again."""

    async def later() -> str:
        await asyncio.wait([b])  # a cancel of this task leaves it as it is
        return b.result()

    b = asyncio.ensure_future(ctx.step("b", slowly))  # type: ignore[arg-type]
    both = [asyncio.ensure_future(ctx.step("a", fragile)), asyncio.create_task(later())]  # type: ignore[arg-type]
    done, others = await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    return done.pop().result() + await b


async def test_what_a_second_failure_led_to_after_a_first_is_not_asked_for_either(
    fragile: Repairable, simulate: Simulate
) -> None:
    ledger = Ledger()

    @workflow
    async def w(ctx: Context) -> str:
        try:
            return await _either(ctx, fragile, slowly)
        except CriticalError:
            await ctx.step("clean", ledger.does("clean"))
            await ctx.sleep("until b has failed", 2)
            await ctx.step("again", fragile)
            raise

    async def slowly() -> str:
        await s.clock.sleep(1)
        return await fragile()

    async with simulate() as s:
        run = await s.start(w)
        for broken in (True, False):
            with pytest.raises(RunFailed):
                await s.result(run)
            fragile.broken = broken
            await run.retry()
        assert await s.result(run) == "okok"
        assert ledger == ["clean"]
        history = await run.history()
        history.assert_recorded_once()
        history.assert_fits_its_code()


async def test_what_new_code_left_out_is_missed_after_a_second_failure_though_its_handler_changed_too(
    fragile: Repairable, simulate: Simulate
) -> None:
    """Without its old handler, what the code asks for after the failure is not known."""

    @workflow(name="w")
    async def old(ctx: Context) -> str:
        await ctx.step("fine", lambda: 1)
        try:
            return await _either(ctx, fragile, slowly)
        except CriticalError:
            await ctx.step("clean", lambda: 1)
            await ctx.sleep("until b has failed", 2)
            await ctx.step("again", fragile)
            raise

    @workflow(name="w")
    async def new(ctx: Context) -> str:
        try:
            return await _either(ctx, fragile, slowly)
        except CriticalError:
            await ctx.sleep("clean", 1)
            raise

    async def slowly() -> str:
        await s.clock.sleep(1)
        return await fragile()

    async with simulate() as s:
        run = await s.start(old)
        with pytest.raises(RunFailed):
            await s.result(run)
        await run.retry()
        with pytest.raises(RunFailed):
            await s.result(run)
        await deploy(s, new)
        await run.retry()
        with pytest.raises(HistoryDivergedError, match="history has step `fine`"):
            await s.result(run)


async def test_children_that_outlive_their_parent_start_anew_when_they_were_stopped(
    fragile: Repairable, simulate: Simulate
) -> None:
    @workflow
    async def w(ctx: Context) -> str:
        async with asyncio.TaskGroup() as group:
            found = group.create_task(ctx.child("c", kid, on_parent_close="abandon"))  # type: ignore[arg-type]
            group.create_task(ctx.step("f", fragile))  # type: ignore[arg-type]
        return found.result()

    async with simulate([kid]) as s:
        run = await s.start(w)
        with pytest.raises(RunFailed):
            await s.result(run)
        fragile.broken = False
        await run.retry()
        assert await s.result(run) == "kid"


async def test_a_child_that_outlives_its_parent_and_failed_is_tried_again(
    fragile: Repairable, simulate: Simulate
) -> None:
    @workflow(name="weak")
    async def weak(ctx: Context) -> str:
        return await ctx.step("f", fragile)

    @workflow
    async def w(ctx: Context) -> str:
        return await ctx.child("c", weak, on_parent_close="abandon")

    async with simulate([weak]) as s:
        run = await s.start(w)
        with pytest.raises(RunFailed):
            await s.result(run)
        fragile.broken = False
        await run.retry()
        assert await s.result(run) == "ok"
