"""Queries read what a run has come to; published values are events, recorded once."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from plait import Context, Loop, graph, workflow
from plait.api.published import PublishedValue
from plait.errors import InvalidInput, NotFound
from plait.testing import Sim, SimRun, sim, survives_every_crash
from tests.engine.places import OnDisk

from .conftest import Simulate
from .support import deploy, refused, same_log


@workflow
async def counter(ctx: Context, upto: int) -> int:
    seen: list[int] = []
    ctx.on_query("seen", lambda: seen)
    ctx.on_query("times", lambda factor=1: [n * factor for n in seen])
    ctx.on_query("broken", lambda: 1 / 0)
    ctx.on_query("greedy", lambda: seen.clear())
    for n in range(upto):
        seen.append(n)
        await ctx.listen(f"next:{n}", "next")
    return len(seen)


async def test_a_query_tells_how_far_a_run_has_come_also_after_its_end(simulate: Simulate) -> None:
    async with simulate() as s:
        run = await s.start(counter, 2)
        await s.settle()
        answers = [await run.query("seen")]
        await run.message("next")
        await s.settle()
        answers.append(await run.query("seen"))
        await s.crash()
        answers.append(await run.query("times", 10))
        await run.message("next")
        assert await s.result(run) == 2
        answers.append(await run.query("times"))
        assert answers == [[0], [0, 1], [0, 10], [0, 1]]


async def test_a_query_changes_nothing_whatever_its_handler_does(simulate: Simulate) -> None:
    async with simulate() as s:
        run = await s.start(counter, 2)
        await s.settle()
        before = str(await run.history())
        assert await run.query("greedy") is None
        assert await run.query("seen") == [0]
        with refused("CODE_QUERY_FAILED", "query `broken` failed", "division by zero"):
            await run.query("broken")
        with refused("CODE_NO_QUERY", "no query `sene`", "did you mean `seen`?"):
            await run.query("sene")
        with refused("CODE_INPUT_INVALID", "query `seen` takes no argument"):
            await run.query("seen", 1)
        assert str(await run.history()) == before
        for _ in range(2):
            await run.message("next")
        assert await s.result(run) == 2


async def test_code_that_does_not_fit_answers_no_queries(simulate: Simulate) -> None:
    @workflow(name="counter")
    async def other(ctx: Context, upto: int) -> int:
        ctx.on_query("seen", list)
        await ctx.sleep("nap", 1)
        return 0

    async with simulate([counter]) as s:
        run = await s.start(counter, 2)
        await s.settle()
        await deploy(s, other)
        with refused("CODE_DIVERGED", "is blocked", "next:0"):
            await run.query("seen")


async def test_who_has_no_code_asks_the_owner(tmp_path: Any) -> None:
    place = OnDisk(tmp_path / "plait.db")
    async with place.engine(counter) as owner:
        run = await owner.start(counter, 2, id="c")
        async with place.engine(work=False) as caller:
            asked = await caller.get("c")
            assert await asked.query("times", 3) == [0]
            with pytest.raises(NotFound, match="no query `sene`"):
                await asked.query("sene")
            await run.message("next")
            await run.message("next")
            await run.result()
            assert await asked.query("seen") == [0, 1]
        types = {event.type for event in await run.events()}
        assert types == {"run.started", "code.loaded", "op.opened", "op.closed", "message.queued", "run.completed"}


@workflow
async def reporter(ctx: Context, rounds: int) -> None:
    ctx.publish("state", "begun")

    async def body(ctx: Context, n: int) -> Loop[int, None]:
        ctx.publish("round", {"n": n})
        await ctx.sleep("wait", 1)
        ctx.publish("round", {"n": n, "over": True})
        return Loop.continue_(n + 1) if n + 1 < rounds else Loop.break_(None)

    await ctx.loop("rounds", body, state=0, commit_interval=1, history_keep=0)
    ctx.publish("state", None)


async def values(stream: AsyncIterator[PublishedValue]) -> list[Any]:
    return [item.value async for item in stream]


async def test_published_values_are_read_by_key(simulate: Simulate) -> None:
    async with simulate() as s:
        run = await s.start(reporter, 2)
        await s.settle()
        assert (await run.published("state"), await run.published("round")) == ("begun", {"n": 0})
        await s.result(run)
        handle = await s.engine.get(run.id)
        assert await handle.published("state", "none") is None
        assert await handle.published("nothing", "none") == "none"
        rounds = [item async for item in handle.stream("round")]
        assert [item.value for item in rounds] == [
            {"n": 0},
            {"n": 0, "over": True},
            {"n": 1},
            {"n": 1, "over": True},
        ]
        assert await values(handle.stream("round", after=rounds[1].seq)) == [{"n": 1}, {"n": 1, "over": True}]


async def test_values_are_published_once_however_often_a_run_is_replayed() -> None:
    history = await same_log(reporter, 3)
    assert len(history.of("published")) == 8

    async def script(s: Sim, run: SimRun) -> None:
        await s.settle()

    assert (await survives_every_crash(reporter, 2, script)).status == "completed"


async def test_what_can_not_be_published_says_so(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> str:
        with refused("CODE_NOT_ENCODABLE", "the value of publish `k`"):
            ctx.publish("k", object())
        with refused("CODE_BAD_OPTION", "the key of publish"):
            ctx.publish("a\0b", 1)
        return "ok"

    async with simulate() as s:
        assert await s.run(w) == "ok"


async def test_new_code_publishes_what_it_adds_when_the_replay_is_over(simulate: Simulate) -> None:
    @workflow(name="w")
    async def old(ctx: Context) -> None:
        await ctx.listen("go")

    @workflow(name="w")
    async def new(ctx: Context) -> None:
        ctx.publish("added", 1)
        await ctx.listen("go")
        ctx.publish("added", 2)

    async with simulate([old]) as s:
        run = await s.start(old)
        await s.settle()
        await deploy(s, new)
        await run.message("go")
        await s.result(run)
        assert [event["value"] for event in (await run.history()).of("published")] == [1, 2]


async def test_runs_of_other_dialects_answer_nothing() -> None:
    async with sim([]) as s:
        run = await s.engine.start(graph({"nodes": [{"id": "sign", "type": "human"}]}), id="g")
        for asking in (run.query("q"), run.update("u"), run.published("k")):
            with pytest.raises(InvalidInput, match="runs of the graph dialect have none"):
                await asking
