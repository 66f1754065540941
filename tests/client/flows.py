"""Workflows that the client's tests start on a server."""

from dataclasses import dataclass

from plait import Context, Undo, step, step_log, workflow


@step
def reserve(sku: str) -> str:
    step_log(f"reserving {sku}")
    return f"hold of {sku}"


@step
def release(undo: Undo) -> None:
    return None


@workflow
async def order(ctx: Context, sku: str) -> str:
    held = await ctx.step("reserve", reserve, sku, rollback=release)
    message = await ctx.listen("paid")
    assert message is not None
    return f"{held}, paid {message.body}"


@workflow
async def cart(ctx: Context) -> list[str]:
    items: list[str] = []

    def must_be_new(item: str) -> None:
        if item in items:
            raise ValueError(f"{item} is in the cart")

    async def add(ctx: Context, item: str) -> int:
        items.append(await ctx.step("reserve", reserve, item))
        ctx.publish("count", len(items))
        return len(items)

    ctx.on_update("add", add, must_be_new)
    ctx.on_query("items", lambda first=0: items[first:])
    await ctx.listen("pay")
    return items


@step(max_attempts=1)
def refuse() -> None:
    raise ConnectionError("the bank says no")


@workflow
async def failing(ctx: Context) -> None:
    await ctx.step("charge", refuse)


@dataclass
class Budget:
    cents: int


@workflow
async def asking(ctx: Context) -> int:
    verdict = await ctx.approve("budget", by="boss", form=Budget, evidence={"asked": 700})
    return verdict.data.cents


@workflow
async def echo(ctx: Context, value: object) -> object:
    return value
