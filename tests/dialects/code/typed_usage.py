# pyright: strict, reportUnnecessaryTypeIgnoreComment=true
"""What a type checker knows of a workflow. Never run: `make lint` reads it.

A line that must be refused says so with an ignore; one that is not needed is an error here.
"""

from dataclasses import dataclass
from typing import Any, assert_type

from plait import Context, Engine, Handle, Loop, Undo, step, workflow
from plait.code import Message, Op, Results, Verdict, Won


@dataclass
class Order:
    id: str


@dataclass
class Receipt:
    total: float


@step
async def charge(order: Order, amount: int = 1) -> Receipt:
    return Receipt(amount)


@step(max_attempts=5, timeout=None)
def plain(number: int) -> str:
    return str(number)


async def unmarked(number: int) -> bytes:
    return bytes(number)


@step
async def refund(undo: Undo) -> None: ...


@workflow
async def child(ctx: Context, order: Order) -> Receipt:
    return await ctx.step("charge", charge, order)


@workflow(name="parent", version="2")
async def parent(ctx: Context, order: Order) -> list[str]:
    # Steps: the result is what the function returns, its arguments are checked
    assert_type(await ctx.step("a", charge, order), Receipt)
    assert_type(await ctx.step("b", charge, order, 5, rollback=refund), Receipt)
    assert_type(await ctx.step("c", plain, 5, max_attempts=2), str)
    assert_type(await ctx.step("d", unmarked, 5), bytes)
    assert_type(await ctx.step("e", lambda: 5), int)
    assert_type(await ctx.step("f", lambda: unmarked(5)), bytes)
    assert_type(await ctx.step("g", lambda: {"total": 5.0}, returns=Receipt), Receipt)
    assert_type(ctx.step("h", plain, 5), Op[str])
    await ctx.step("i", plain, "x")  # pyright: ignore[reportCallIssue, reportArgumentType]
    await ctx.step("j", charge)  # pyright: ignore[reportCallIssue]
    await ctx.step("k", plain, 5, max_retries=3)  # pyright: ignore[reportCallIssue]

    # Waiting
    assert_type(await ctx.sleep("nap", 5), None)
    message = await ctx.listen("go", type=Order)
    assert_type(message, Message[Order] | None)
    assert_type(await ctx.listen("any"), Message[Any] | None)
    assert_type(await ctx.listen_n("many", limit=5, type=Order), list[Message[Order]])
    assert_type(await ctx.approve("ok"), Verdict)
    async with ctx.timeout("limit", 5):
        pass

    # Structure
    assert_type(await ctx.join("join", a=lambda c: c.step("s", plain, 1), b=branch), Results[str | int])
    won = await ctx.race("race", {"a": branch})
    assert_type(won, Won[int])
    assert_type(won.winner, str)

    async def body(c: Context, left: list[int]) -> Loop:
        return Loop.continue_(left[1:]) if left else Loop.break_("done")

    async def forever(c: Context) -> None:
        await c.sleep("nap", 60)

    assert_type(await ctx.loop("loop", body, state=[1, 2], returns=str), str)
    assert_type(await ctx.loop("untyped", body, state=[1, 2], commit_interval=5), Any)
    assert_type(await ctx.loop("stateless", forever), Any)
    await ctx.loop("wrong state", body, state="text")  # pyright: ignore[reportArgumentType]

    # Other runs
    assert_type(await ctx.child("child", child, order), Receipt)
    assert_type(await ctx.child("by name", "child", order), Any)
    assert_type(await ctx.child("asked", "child", order, returns=Receipt, id="c-1"), Receipt)

    assert_type(await ctx.version("v", 2), int)
    return [won.winner]


async def branch(ctx: Context) -> int:
    return await ctx.step("s", lambda: 5)


async def main(engine: Engine) -> None:
    handle = await engine.start(parent, Order("o-1"), id="o-1")
    assert_type(handle, Handle[list[str]])
    assert_type(await handle.result(), list[str])
    assert_type(await engine.start("parent", {"id": "o-1"}), Handle[Any])

    # A step outside a workflow is the function it was made of
    assert_type(await charge(Order("o-1"), 5), Receipt)
    assert_type(plain(5), str)
    plain("x")  # pyright: ignore[reportArgumentType]


@workflow
async def results(ctx: Context) -> None:
    # A join, a race and a loop know what their bodies give
    joined = await ctx.join("join", a=branch, b=branch)
    assert_type(joined, Results[int])
    assert_type(joined["a"], int)
    assert_type(joined.b, Any)
    mixed = await ctx.join("mixed", {"a": branch}, b=lambda c: c.step("s", plain, 1))
    assert_type(mixed, Results[int | str])
    won = await ctx.race("race", a=branch, b=lambda c: c.listen("m", type=Order))
    assert_type(won.value, int | Message[Order] | None)

    async def pay(c: Context, left: list[int]):
        if not left:
            return Loop.break_(Receipt(1))
        return Loop.continue_(left[1:])

    async def annotated(c: Context, left: list[int]) -> Loop[list[int], Receipt]:
        return Loop.break_(Receipt(1)) if not left else Loop.continue_(left[1:])

    async def stateless(c: Context) -> Loop[None, str] | None:
        return None if ctx.labels else Loop.break_("end")

    assert_type(await ctx.loop("pay", pay, state=[1]), Receipt)
    assert_type(await ctx.loop("annotated", annotated, state=[1], commit_interval=5), Receipt)
    assert_type(await ctx.loop("stateless", stateless), str)


def annotations(results: Results, won: Won, loop: Loop) -> None:
    """Bare names are fine, and mean anything."""
    assert_type(results, Results[Any])
    assert_type(won, Won[Any])
    assert_type(loop, Loop[Any, Any])


@workflow
async def keywords(ctx: Context, order: Order) -> None:
    assert_type(await ctx.step("a", charge, order=order), Receipt)
    assert_type(await ctx.step("b", charge, order, amount=5), Receipt)
    assert_type(await ctx.step("c", plain, number=5), str)
    await ctx.step("d", charge, order, amount="x")  # pyright: ignore[reportCallIssue, reportArgumentType]
    await ctx.step("e", charge, order, count=5)  # pyright: ignore[reportCallIssue]
    assert_type(await ctx.start_child("f", child, order), str)
