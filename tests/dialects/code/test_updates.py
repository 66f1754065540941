"""Updates: validated before anything is recorded, handled inside the workflow, answered once."""

import asyncio
import gc
from dataclasses import dataclass

import pytest

from plait import Context, Loop, step, workflow
from plait.errors import Conflict, InvalidInput
from plait.testing import Sim, SimRun, survives_every_crash

from .conftest import Simulate
from .support import Ledger, deploy, refused, same_log


@dataclass
class Item:
    name: str
    price: int = 1


def must_be_cheap(item: Item) -> None:
    if item.price > 100:
        raise ValueError(f"{item.name} is too dear")


@step
async def look_up(name: str) -> int:
    return len(name)


@workflow
async def cart(ctx: Context) -> list[str]:
    items: list[Item] = []

    async def add(ctx: Context, item: Item) -> int:
        weight = await ctx.step("look up", look_up, item.name)
        items.append(item)
        return weight

    ctx.on_update("add", add, must_be_cheap)
    ctx.on_query("items", lambda: [item.name for item in items])
    await ctx.listen("pay")
    return [item.name for item in items]


async def test_an_update_is_answered_with_what_its_handler_returns(simulate: Simulate) -> None:
    async with simulate() as s:
        run = await s.start(cart)
        assert await run.update("add", Item("book")) == 4
        assert await run.update("add", {"name": "pen"}) == 3
        await run.message("pay")
        assert await s.result(run) == ["book", "pen"]


async def test_an_update_that_the_validator_rejects_leaves_no_trace(simulate: Simulate) -> None:
    async with simulate() as s:
        run = await s.start(cart)
        await s.settle()
        before = str(await run.history())
        with refused("CODE_UPDATE_REJECTED", "update `add` was rejected", "ring is too dear"):
            await run.update("add", Item("ring", 101))
        with refused("CODE_INPUT_INVALID", "does not fit update `add`", "`int`"):
            await run.update("add", {"name": "pen", "price": "x"})
        with refused("CODE_NO_UPDATE", "no update `ad`", "did you mean `add`?"):
            await run.update("ad", Item("book"))
        assert str(await run.history()) == before


async def test_the_same_id_is_one_update_with_one_answer(simulate: Simulate) -> None:
    async with simulate() as s:
        run = await s.start(cart)
        answers = [await run.update("add", Item("book"), "u-1") for _ in range(2)]
        with pytest.raises(InvalidInput, match="too dear"):
            await run.update("add", Item("ring", 101), "u-2")
        with pytest.raises(InvalidInput, match="too dear"):  # that was the answer, whatever is sent now
            await run.update("add", Item("pen"), "u-2")
        await s.crash()
        answers.append(await run.update("add", Item("book"), "u-1"))
        await run.message("pay")
        assert await s.result(run) == ["book"]
        answers.append(await run.update("add", Item("book"), "u-1"))
        assert answers == [4, 4, 4, 4]


async def test_a_handler_that_fails_fails_its_update_and_not_the_run(
    simulate: Simulate, caplog: pytest.LogCaptureFixture
) -> None:
    @workflow
    async def w(ctx: Context) -> str:
        async def explode(ctx: Context) -> None:
            raise ValueError("boom")

        ctx.on_update("explode", explode)
        await ctx.listen("go")
        return "fine"

    async with simulate() as s:
        run = await s.start(w)
        for _ in range(2):
            with refused("CODE_UPDATE_FAILED", "update `explode` failed", "boom"):
                await run.update("explode", id="u")
        await s.crash()
        await run.message("go")
        assert await s.result(run) == "fine"
    gc.collect()
    assert "nobody awaits" not in caplog.text  # a replay comes to the failure again, and its sender was told


async def test_a_run_that_ends_answers_the_updates_that_are_under_way(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> str:
        ended = asyncio.Event()

        async def last(ctx: Context) -> str:
            ended.set()
            return "the last"

        async def slow(ctx: Context) -> None:
            await ctx.sleep("nap", 1000)

        ctx.on_update("last", last)
        ctx.on_update("slow", slow)
        await ended.wait()
        return "over"

    async with simulate() as s:
        run = await s.start(w)
        waiting = asyncio.ensure_future(run.update("slow", id="slow"))
        await s.settle()
        assert await run.update("last") == "the last"
        with refused("RUN_FINISHED", "ended before update `slow` was done"):
            await waiting
        with refused("RUN_FINISHED", "ended before update `slow` was done"):
            await run.update("slow", id="slow")
        with pytest.raises(Conflict, match="has completed"):
            await run.update("last")
        assert await s.result(run) == "over"


async def test_updates_run_beside_the_workflow_and_each_other() -> None:
    ledger = Ledger()

    @workflow
    async def w(ctx: Context) -> int:
        total = 0

        async def add(ctx: Context, n: int) -> int:
            nonlocal total
            await ctx.sleep("think", n)
            await ctx.step("note", ledger.does(n))
            total += n
            return total

        ctx.on_update("add", add)
        await ctx.sleep("day", 10)
        return total

    async def script(s: Sim, run: SimRun) -> None:
        slow = asyncio.ensure_future(run.update("add", 3, "three"))
        quick = asyncio.ensure_future(run.update("add", 1, "one"))
        await s.settle()
        await s.clock.advance(5)
        assert [await slow, await quick] == [4, 1]

    await same_log(w, script=script)
    assert ledger == [1, 3, 1, 3]


async def test_updates_survive_every_crash() -> None:
    async def script(s: Sim, run: SimRun) -> None:
        assert await run.update("add", {"name": "book"}, "u-1") == 4
        with pytest.raises(InvalidInput, match="too dear"):
            await run.update("add", {"name": "ring", "price": 101}, "u-2")
        assert await run.query("items") == ["book"]
        await run.message("pay", id="m-1")

    report = await survives_every_crash(cart, script=script)
    assert report.output == ["book"]


async def test_code_without_the_handler_of_a_recorded_update_blocks_until_it_says_so(simulate: Simulate) -> None:
    @workflow(name="cart")
    async def without(ctx: Context) -> list[str]:
        await ctx.listen("pay")
        return []

    @workflow(name="cart")
    async def removed(ctx: Context) -> list[str]:
        await ctx.removed("add", "update")
        await ctx.listen("pay")
        return ["nothing"]

    async with simulate([cart]) as s:
        run = await s.start(cart)
        await run.update("add", Item("book"))
        await deploy(s, without)
        with refused("CODE_NO_UPDATE", "takes no updates now"):
            await run.update("add", Item("pen"))
        [reason] = await run.waiting()
        assert "history has update `add`, the code has no handler" in reason.text
        with refused("CODE_DIVERGED", "blocked"):
            await run.update("add", Item("pen"))
        with refused("CODE_DIVERGED", "blocked"):
            await run.query("items")
        await deploy(s, removed)
        await run.message("pay")
        assert await s.result(run) == ["nothing"]


async def test_handlers_belong_to_the_workflow_function_itself(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> str:
        async def body(ctx: Context) -> Loop[None, str]:
            with refused("CODE_WRONG_CTX", "on_update `u` is called in `l/~0`"):
                ctx.on_update("u", body)
            return Loop.break_("ok")

        with refused("CODE_BAD_OPTION", "a query only reads"):
            ctx.on_query("q", body)
        with refused("CODE_BAD_OPTION", "the validator of update `u`"):
            ctx.on_update("u", body, body)
        return await ctx.loop("l", body)

    async with simulate() as s:
        assert await s.run(w) == "ok"


async def test_the_page_shows_updates_with_their_steps(simulate: Simulate) -> None:
    async with simulate() as s:
        run = await s.start(cart)
        await run.update("add", Item("book"))
        nodes = {node.id: node for node in (await run.view()).nodes}
        update, inner = nodes["~update.add/~0"], nodes["~update.add/~0/look up"]
        assert (update.kind, update.label, update.status, update.output) == ("update", "add", "completed", 4)
        assert (inner.parent, inner.path) == (update.id, "update add / 1 / look up")


async def test_a_failed_run_that_is_retried_takes_updates_again(simulate: Simulate) -> None:
    attempts: list[int] = []

    @workflow
    async def w(ctx: Context) -> list[int]:
        got: list[int] = []

        async def put(ctx: Context, n: int) -> int:
            got.append(await ctx.step("same", lambda: n))
            return len(got)

        async def flaky() -> None:
            attempts.append(1)
            if len(attempts) == 1:
                raise ValueError("not yet")

        ctx.on_update("put", put)
        await ctx.listen("go")
        await ctx.step("flaky", flaky, max_attempts=1)
        await ctx.listen("end")
        return got

    async with simulate() as s:
        run = await s.start(w)
        assert await run.update("put", 1, "a") == 1
        await run.message("go")
        await s.skip_until(run.ended)
        await run.retry()
        assert await run.update("put", 2, "b") == 2
        await run.message("end")
        assert await s.result(run) == [1, 2]
