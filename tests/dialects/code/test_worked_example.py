"""The worked example of the specification, and what becomes of it wherever its process dies."""

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from plait import Context, Loop, RollbackError, Undo, step, workflow
from plait.errors import StepExhaustedError
from plait.testing import Sim, SimRun, survives_every_crash

from .support import Ledger

pytestmark = pytest.mark.costly

world = Ledger()


@pytest.fixture(autouse=True)
def _clean() -> None:
    world.clear()


@dataclass
class Item:
    sku: str


@dataclass
class Order:
    id: str
    items: list[Item]


@dataclass
class Hold:
    order: str


@dataclass
class Receipt:
    order: str
    tax: float
    shipped: int


@step(max_attempts=5)
async def reserve(o: Order) -> Hold:
    return Hold(o.id)


@step
async def release(undo: Undo) -> None:
    world.append(f"released {undo.output.order}")


async def get_tax(o: Order) -> float:
    return 0.2


@step
def ship_item(item: Item) -> None:
    world.append(item.sku)


@workflow
async def risk(ctx: Context, o: Order) -> str:
    await ctx.sleep("think", 5)
    return "low"


@workflow
async def order(ctx: Context, o: Order) -> Receipt:
    hold = await ctx.step("reserve", reserve, o, rollback=release)
    info = await ctx.join(
        "lookup",
        tax=lambda c: c.step("tax", get_tax, o),
        risk=lambda c: c.child("risk", risk, o, id=f"{ctx.run_id}-risk"),
    )
    won = await ctx.race(
        "decision", answer=lambda c: c.listen("answer", ["yes", "no"]), expired=lambda c: c.sleep("wait", 86_400)
    )
    if won.value is None or won.value.name == "no":  # expired
        raise RollbackError("not approved")  # runs release

    async def ship(c: Context, left: list[Item]) -> Loop:
        if not left:
            return Loop.break_(len(o.items))
        await c.step("ship", ship_item, left[0])
        return Loop.continue_(left[1:])

    n = await ctx.loop("items", ship, state=o.items)
    return await ctx.step("receipt", lambda: Receipt(hold.order, info.tax, n), returns=Receipt)


ORDER = Order("o-1", [Item("tea"), Item("milk")])


def answering(name: str | None) -> Any:
    async def script(s: Sim, run: SimRun) -> None:
        await s.clock.advance(10)
        if name is not None:
            await run.message(name, id="the answer")

    return script


async def test_the_worked_example_survives_every_crash() -> None:
    report = await survives_every_crash(order, ORDER, answering("yes"), definitions=[risk])
    assert report.status == "completed"
    assert report.output == {"order": "o-1", "tax": 0.2, "shipped": 2}
    assert report.crashes > 40
    assert world[:2] == ["tea", "milk"]


@pytest.mark.parametrize("answer", ["no", None])
async def test_an_order_that_is_not_approved_is_undone_wherever_it_crashes(answer: str | None) -> None:
    report = await survives_every_crash(order, ORDER, answering(answer), definitions=[risk])
    assert report.status == "failed"
    assert set(world) == {"released o-1"}


@workflow
async def structures(ctx: Context) -> list[Any]:
    async def body(c: Context, n: int) -> Loop:
        if n == 5:
            return Loop.break_(n)
        await c.sleep("tick", 1)
        await c.step("work", lambda: n)
        return Loop.continue_(n + 1)

    async def flaky(c: Context) -> str:
        def fails() -> None:
            raise ConnectionError("away")

        try:
            await c.step("fails", fails, max_attempts=2)
        except StepExhaustedError as error:
            return type(error.last_error).__name__
        return ""

    async def limited(c: Context) -> str:
        try:
            async with c.timeout("limit", 3):
                await asyncio.gather(c.sleep("a", 1), c.sleep("b", 100))
        except TimeoutError:
            return "late"
        return ""

    found = await ctx.join(
        "j", loop=lambda c: c.loop("l", body, state=0, commit_interval=2), flaky=flaky, limited=limited
    )
    first = await ctx.race("r", a=lambda c: c.sleep("s", 1), b=lambda c: c.sleep("s", 2))
    return [*found.values(), first.winner, await ctx.version("v", 2), ctx.random().random() < 1]


async def test_structures_survive_every_crash() -> None:
    report = await survives_every_crash(structures)
    assert report.output == [5, "ConnectionError", "late", "a", 2, True]


@workflow
async def undoing(ctx: Context) -> None:
    def undo(undo: Undo) -> None: ...

    async def body(c: Context, n: int) -> Loop:
        await c.step("do", lambda: n, rollback=undo)
        return Loop.continue_(n + 1) if n < 2 else Loop.break_()

    await ctx.loop("l", body, state=0, commit_interval=1, history_keep=0)
    await ctx.join("j", x=lambda c: c.step("do", lambda: 1, rollback=undo), y=lambda c: c.sleep("s", 1))
    raise RollbackError("enough")


async def test_inline_rollback_survives_every_crash() -> None:
    report = await survives_every_crash(undoing)
    assert report.status == "failed"


@workflow
async def listening(ctx: Context) -> list[Any]:
    found: list[Any] = []
    for n in range(3):
        message = await ctx.listen(f"m{n}", ["a", "b"], timeout=10)
        found.append(message and message.body)
    rest = await ctx.listen_n("rest", "a", limit=5, timeout=10)
    return [*found, [message.body for message in rest]]


async def test_messages_survive_every_crash() -> None:
    async def script(s: Sim, run: SimRun) -> None:
        await run.message("b", 1, id="1")
        await s.clock.advance(15)
        for n in (2, 3):
            await run.message("a", n, id=str(n))

    report = await survives_every_crash(listening, None, script)
    assert report.output == [1, None, 2, [3]]
