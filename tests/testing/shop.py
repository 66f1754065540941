"""The shop that the examples in `docs/testing.md` test."""

from typing import Any

from plait import Context, workflow

WEEK = 7 * 86_400

sent: list[str] = []


@workflow
async def shipping(ctx: Context, sku: str) -> str:
    return await ctx.step("ship", lambda: f"{sku} is on its way")


@workflow
async def order(ctx: Context, order: dict[str, Any]) -> dict[str, Any]:
    async def remind() -> None:
        sent.append("reminder")

    approval = await ctx.listen("approve", timeout=WEEK)
    if approval is None:
        await ctx.step("remind", remind)
        approval = await ctx.listen("approve at last", "approve", timeout=WEEK)
    if approval is None:
        return {**order, "paid": False}
    await ctx.step("charge", lambda: "charged")
    await ctx.child("shipping", shipping, order["sku"])
    return {**order, "paid": True}
