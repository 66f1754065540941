"""`ctx.race`: the first to complete wins."""

import asyncio
from typing import Any

from plait import Context, Loop, RollbackError, workflow
from plait.errors import PlaitError, RaceError

from .conftest import Simulate
from .decided import deciding
from .support import Ledger, failure
from .test_join import failing, sleeper


async def test_the_first_to_complete_wins() -> None:
    @workflow
    async def w(ctx: Context) -> list[Any]:
        won = await ctx.race("r", slow=sleeper(10, "slow"), quick=sleeper(1, "quick"))
        await ctx.sleep("nap", 1)
        return [won.winner, won.value, f"{ctx.now():%S}"]

    async with deciding() as s:
        run = await s.start(w)
        await s.clock.advance(1)
        await s.crash()
        assert await s.result(run) == ["quick", "quick", "02"]
        closed = next(event for event in (await run.history()).of("op.closed") if event["at"] == "r")
        assert closed["winner"] == "quick"


async def test_none_wins_too() -> None:
    @workflow
    async def w(ctx: Context) -> list[Any]:
        won = await ctx.race("r", a=sleeper(10, "a"), b=sleeper(1, None))
        await ctx.sleep("nap", 1)
        return [won.winner, won.value]

    async with deciding() as s:
        run = await s.start(w)
        await s.clock.advance(1)
        await s.crash()
        assert await s.result(run) == ["b", None]


async def test_of_two_in_one_turn_the_first_listed_wins() -> None:
    @workflow
    async def w(ctx: Context) -> list[str]:
        async def at_once(c: Context) -> None: ...

        async def later(c: Context) -> None:
            for _ in range(10):
                await asyncio.sleep(0)

        first = await ctx.race("r", slow=later, quick=at_once)
        second = await ctx.race("r2", quick=at_once, slow=later)
        return [first.winner, second.winner]

    async with deciding() as s:
        assert await s.run(w) == ["slow", "quick"]


async def test_a_failure_does_not_win() -> None:
    @workflow
    async def w(ctx: Context) -> list[Any]:
        won = await ctx.race("r", bad=failing(1, ValueError("no")), good=sleeper(5, "good"))
        return [won.winner, won.value]

    async with deciding() as s:
        run = await s.start(w)
        await s.clock.advance(2)
        await s.crash()
        assert await s.result(run) == ["good", "good"]


async def test_when_all_fail_there_is_a_race_error() -> None:
    seen: list[Any] = []

    @workflow
    async def w(ctx: Context) -> None:
        try:
            await ctx.race("r", a=failing(1, ValueError("a")), b=failing(2, KeyError("b")))
        except RaceError as error:
            seen.append([str(error.errors["a"]), repr(error.errors["b"]), f"{ctx.now():%S}"])
        await ctx.sleep("nap", 1)

    async with deciding() as s:
        run = await s.start(w)
        await s.clock.advance(2)
        await s.crash()
        await s.result(run)
    assert seen[0] == seen[-1] == ["a", "KeyError('b')", "02"]


async def test_losers_are_cancelled_and_not_waited_for(simulate: Simulate) -> None:
    ledger = Ledger()

    @workflow
    async def w(ctx: Context) -> str:
        async def step(c: Context) -> None:
            async def slow() -> None:
                try:
                    await s.clock.sleep(1000)
                except asyncio.CancelledError:
                    ledger.append("step cancelled")
                    raise

            await c.step("slow", slow, timeout=None)

        async def many(c: Context) -> None:
            await c.join("j", x=sleeper(1000), y=lambda c: c.listen("never"))

        async def looping(c: Context) -> None:
            await c.loop("l", lambda c: c.sleep("nap", 1000))

        async def background(c: Context) -> None:
            task = asyncio.create_task(c.sleep("background", 1000))
            await c.sleep("front", 1000)
            await task

        won = await ctx.race(
            "r",
            quick=sleeper(1, "quick"),
            step=step,
            many=many,
            looping=looping,
            background=background,
            ask=lambda c: c.approve("ok"),
        )
        await ctx.sleep("after", 1)
        return won.winner

    async with simulate() as s:
        run = await s.start(w)
        await s.clock.advance(1)
        assert ledger == ["step cancelled"]
        assert await s.engine.approvals.list() == []
        assert [reason.text.partition(" until")[0] for reason in await run.waiting()] == ["sleep `after`"]
        assert await s.result(run) == "quick"
        assert s.clock.elapsed == 2000
        statuses = {event["at"]: event.get("status", "completed") for event in (await run.history()).of("op.closed")}
        lost = {path for path, status in statuses.items() if status == "cancelled"}
        assert lost == {
            "r/step/slow",
            "r/many/j",
            "r/many/j/x/nap",
            "r/many/j/y/never",
            "r/looping/l",
            "r/looping/l/~0/nap",
            "r/background/background",
            "r/background/front",
            "r/ask/ok",
        }


async def test_a_loser_can_not_touch_its_ctx_any_more() -> None:
    seen: list[str] = []

    @workflow
    async def w(ctx: Context) -> str:
        async def stubborn(c: Context) -> None:
            try:
                await c.sleep("nap", 1000)
            finally:
                try:
                    await c.step("cleanup", lambda: seen.append("the step ran"))
                except PlaitError as error:
                    seen.append(str(error))

        won = await ctx.race("r", quick=sleeper(1), stubborn=stubborn)
        await ctx.sleep("after", 1)
        return won.winner

    async with deciding() as s:
        run = await s.start(w)
        assert await s.result(run) == "quick"
        paths = [event["at"] for event in (await run.history()).of("op.opened")]
        assert "r/stubborn/cleanup" not in paths
    what = "step `cleanup` can't be used in `r/stubborn`: that has ended or was cancelled"
    assert set(seen) == {f"{what}. To fix: do it after `r`, with the ctx around it [CODE_WRONG_CTX]"}


async def test_a_rollback_error_wins_over_everything() -> None:
    @workflow
    async def w(ctx: Context) -> None:
        await ctx.race("r", slow=sleeper(1000), bad=failing(1, RollbackError("stop")))

    async with deciding() as s:
        info = await failure(s, await s.start(w))
        assert info.kind == "rollback"
        assert s.clock.elapsed == 1000


async def test_races_nest_in_loops_and_joins() -> None:
    @workflow
    async def w(ctx: Context) -> list[str]:
        async def body(c: Context, found: list[str]) -> Any:
            won = await c.race("r", answer=lambda c: c.listen("a", "m", timeout=100), late=sleeper(5, "late"))
            found.append(won.winner)
            return Loop.continue_(found) if len(found) < 3 else Loop.break_(found)

        return await ctx.loop("l", body, state=[])

    async with deciding() as s:
        run = await s.start(w)
        await s.clock.advance(6)
        await run.message("m")
        await s.settle()
        await s.crash()
        assert await s.result(run) == ["late", "answer", "late"]


async def test_a_message_is_not_lost_to_a_loser() -> None:
    @workflow
    async def w(ctx: Context) -> list[Any]:
        won = await ctx.race("r", timer=sleeper(5), listener=lambda c: c.listen("m"))
        message = await ctx.listen("after", "m")
        return [won.winner, message.body]  # type: ignore[union-attr]

    async with deciding() as s:
        run = await s.start(w)
        await s.clock.advance(6)
        await run.message("m", "kept")
        assert await s.result(run) == ["timer", "kept"]


async def test_a_closed_step_of_a_loser_with_a_handler_is_undone() -> None:
    ledger = Ledger()

    @workflow
    async def w(ctx: Context) -> None:
        async def loser(c: Context) -> None:
            await c.step("reserve", ledger.does("reserve"), rollback=ledger.undoes("release"))
            await c.sleep("nap", 1000)

        await ctx.race("r", loser=loser, quick=sleeper(1))
        raise RollbackError("no")

    async with deciding() as s:
        run = await s.start(w)
        await s.clock.advance(0.5)
        await s.crash()
        await failure(s, run)
    assert ledger == ["reserve", "release"]
