"""Small workflows that the tests of `plait.testing` run."""

from typing import Any

from plait import Context, CriticalError, Loop, RollbackError, Undo, step, step_info, workflow

MONTH = 30 * 86_400


@step
async def double(number: int) -> int:
    return number * 2


@step(max_attempts=3)
async def flaky(number: int) -> int:
    if step_info().attempt < 3:
        raise ConnectionError("no luck")
    return number + 1


@step
async def forget(undo: Undo) -> None: ...


@workflow
async def doubled(ctx: Context, number: int) -> int:
    return await ctx.step("double", double, number)


@workflow
async def sleeper(ctx: Context) -> str:
    await ctx.sleep("month", MONTH)
    return ctx.now().isoformat()


@workflow
async def listener(ctx: Context) -> Any:
    message = await ctx.listen("word")
    return message.body if message is not None else None


@workflow
async def order(ctx: Context, amount: int) -> dict[str, Any]:
    """A bit of everything."""
    held = await ctx.step("hold", double, amount, rollback=forget)
    tried = await ctx.step("try", flaky, held)
    word = await ctx.listen("word", timeout=MONTH)
    both = await ctx.join("both", child=lambda c: c.child("child", doubled, 4), nap=lambda c: c.sleep("nap", MONTH))
    won = await ctx.race("race", slow=lambda c: c.sleep("slow", MONTH), fast=lambda c: c.step("fast", double, 1))

    async def body(c: Context, left: int) -> Any:
        await c.step("item", double, left)
        return Loop.continue_(left - 1) if left else Loop.break_(amount)

    items = await ctx.loop("items", body, state=4, commit_interval=2)
    said = None if word is None else word.body
    return {"tried": tried, "said": said, "both": both.child, "won": won.winner, "items": items, "id": str(ctx.uuid())}


@workflow
async def regretted(ctx: Context) -> None:
    await ctx.step("hold", double, 1, rollback=forget)
    await ctx.step("hold more", double, 2, rollback=forget)
    raise RollbackError("changed my mind")


@workflow
async def hopeless(ctx: Context) -> None:
    async def refuse() -> None:
        raise CriticalError("never")

    await ctx.step("refuse", refuse)
