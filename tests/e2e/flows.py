"""Workflows with something of everything that the web UI shows. They wait for messages, not for time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Literal

import msgspec

from plait import (
    Context,
    CriticalError,
    Loop,
    Retry,
    RollbackError,
    Undo,
    afl,
    graph,
    handler,
    refs,
    step,
    step_info,
    step_log,
    workflow,
)
from plait.agents import tool

EVIL = "<img src=x onerror=\"window.hacked='{}'\">"
"""What must be shown as it is, wherever it comes from."""


@dataclass(frozen=True)
class Order:
    customer: str
    cups: Annotated[int, msgspec.Meta(ge=1, le=12)] = 2
    tea: Literal["green", "black"] = "green"
    gift: bool = False


@dataclass(frozen=True)
class Terms:
    """What the manager fills in."""

    discount: Annotated[int, msgspec.Meta(ge=0, le=50)]
    note: str = ""


@step
async def reserve(order: Order) -> str:
    step_log(f"reserving {order.cups} cups for {order.customer}")
    step_log("the shelf is nearly empty", level="warning")
    return f"hold-{order.customer}"


@step
async def release(undo: Undo) -> None:
    step_log(f"giving back {undo.output}")


@step
async def price(order: Order) -> int:
    return 450 * order.cups


@step
async def tax(order: Order) -> int:
    return 21


@step(retry=Retry(max_attempts=5, first=0.05, factor=1))
async def charge(order: Order, cents: int) -> str:
    attempt = step_info().attempt
    if attempt < 3:
        step_log(f"attempt {attempt}: the bank does not answer", level="error")
        raise ConnectionError("the bank does not answer")
    return f"paid {cents}"


@step
async def ship(number: int) -> str:
    return f"parcel {number}"


@workflow
async def thank(ctx: Context, customer: str) -> str:
    """Writes a letter; a run of its own."""

    async def write() -> str:
        return f"Dear {customer}, thank you!"

    return await ctx.step("write", write)


@workflow
async def checkout(ctx: Context, order: Order) -> dict[str, object]:
    """Reserve, look up side by side, ask, charge with retries, ship one by one, say thanks."""
    hold = await ctx.step("reserve", reserve, order, rollback=release)
    found = await ctx.join(
        "look up",
        price=lambda c: c.step("price", price, order),
        tax=lambda c: c.step("tax", tax, order),
    )
    total = found.price * (100 + found.tax) // 100
    title = f"Let {order.customer} pay {total / 100:.2f}?"
    evidence = {"customer": order.customer, "total": total, "hold": hold}
    verdict = await ctx.approve("manager", by="sales manager", title=title, form=Terms, evidence=evidence, timeout=3600)
    if not verdict.approved:
        raise RollbackError(f"refused: {verdict.comment or 'no reason given'}")
    total -= total * verdict.data.discount // 100
    payment = await ctx.step("charge", charge, order, total, rollback=release)

    async def next_parcel(c: Context, sent: list[str]):
        if len(sent) == order.cups:
            return Loop.break_(sent)
        return Loop.continue_([*sent, await c.step("ship", ship, len(sent) + 1)])

    parcels = await ctx.loop("parcels", next_parcel, state=list[str](), returns=list[str])
    letter = await ctx.child("thanks", thank, order.customer)
    await ctx.sleep("rest", 0.01)
    return {"payment": payment, "parcels": parcels, "letter": letter, "note": verdict.data.note}


@workflow
async def steady(ctx: Context, order: Order) -> str:
    """A step, a word to wait for, a step."""
    hold = await ctx.step("reserve", reserve, order, rollback=release)
    word = await ctx.listen("go")
    number = await ctx.step("ship", ship, order.cups)
    return f"{hold}, {number}, {word.body if word else None}"


@workflow
async def asking(ctx: Context, title: str) -> str:
    """Asks a person, without a form."""
    verdict = await ctx.approve("boss", title=title)
    return f"{'yes' if verdict.approved else 'no'}: {verdict.comment}"


@workflow
async def board(ctx: Context, title: str) -> str:
    """Asks two of three people."""
    verdict = await ctx.approve(
        "board",
        title=title,
        required=2,
        approvers=["ada", "bob"],
        evidence={"budget": 12_000},
        escalate_after=3600,
        escalate_to=["cleo"],
    )
    return f"{verdict.decision} by {verdict.by}"


@workflow
async def reminder(ctx: Context) -> None:
    """Sleeps for an hour."""
    await ctx.sleep("steep", 3600)


@step(retry=Retry(max_attempts=4, first=600, factor=1, cap=600))
async def stubborn() -> None:
    raise TimeoutError("no answer yet")


@workflow
async def patient(ctx: Context) -> None:
    """Tries again in ten minutes."""
    await ctx.step("dial", stubborn)


# -- something that breaks, and can be repaired ---------------------------------------------------------------------

OPEN: set[str] = set()
"""The suppliers that pick up the phone; in this process only."""


@step(retry=Retry(max_attempts=2, first=0.01))
async def call_supplier(name: str) -> str:
    if name not in OPEN:
        step_log("nobody picks up the phone", level="error")
        raise ConnectionError(f"supplier {name} is closed")
    return f"ordered from {name}"


@workflow
async def restock(ctx: Context, supplier: str) -> str:
    """Calls a supplier, who is closed until `opening` is run for it."""
    await ctx.step("look", ship, 7)
    return await ctx.step("call supplier", call_supplier, supplier)


@workflow
async def opening(ctx: Context, supplier: str) -> str:
    """Opens a supplier."""

    async def turn() -> str:
        OPEN.add(supplier)
        return "open"

    return await ctx.step("turn the sign", turn)


# -- big ones -------------------------------------------------------------------------------------------------------


async def nothing() -> int:
    return 7


@workflow
async def long(ctx: Context, count: int) -> int:
    """One step after the other."""
    for number in range(count):
        await ctx.step(f"step {number}", nothing)
    return count


@workflow
async def wide(ctx: Context, count: int) -> int:
    """All at once, in one scope."""

    def shelf(number: int) -> Callable[[Context], Awaitable[int]]:
        return lambda c: c.step("count", nothing)

    found = await ctx.join("shelves", {f"shelf_{n}": shelf(n) for n in range(count)})
    return sum(found.values())


@workflow
async def slow(ctx: Context, count: int) -> int:
    """Goes on for a while, so that there is something to watch."""

    async def tick() -> int:
        await asyncio.sleep(0.02)
        return 1

    for number in range(count):
        await ctx.step(f"tick {number}", tick)
    return count


# -- two versions, and what is hostile -----------------------------------------------------------------------------


@workflow(name="greet", version="1")
async def greet_1(ctx: Context, name: str) -> str:
    """Greets."""
    return f"hello {name}"


@workflow(name="greet", version="2")
async def greet_2(ctx: Context, name: str) -> str:
    """Greets."""
    loud = name.upper()
    return f"hello {loud}!"


@step
async def echo(text: str) -> str:
    return text


@step(max_attempts=1)
async def spit(text: str) -> str:
    step_log(EVIL.format("log"))
    raise ValueError(EVIL.format("error"))


@workflow
async def hostile(ctx: Context, text: str) -> None:
    """Its names and values are HTML, and it fails with some."""
    await ctx.step("echo", echo, text)
    evidence = {EVIL.format("key"): EVIL.format("evidence")}
    await ctx.approve("html", by=EVIL.format("by"), title=EVIL.format("title"), evidence=evidence)
    await ctx.step(EVIL.format("step name"), spit, text)


def _block() -> int:
    time.sleep(0.1)
    return 1


@workflow
async def crowd(ctx: Context, count: int) -> int:
    """More steps in threads than there are threads: some have to queue."""
    found = await ctx.join("crowd", {f"one_{n}": lambda c: c.step("count", _block) for n in range(count)})
    return sum(found.values())


@step
async def take_payment() -> None:
    raise CriticalError("the card was declined")


@workflow
async def paying(ctx: Context) -> None:
    """The child of `buying`, where it fails."""
    await ctx.step("take payment", take_payment)


@workflow
async def buying(ctx: Context) -> None:
    await ctx.step("prepare", nothing)
    await ctx.child("pay", paying)


@workflow
async def shopping(ctx: Context) -> None:
    """Where it fails is the child of its child."""
    await ctx.child("buy", buying)


@workflow
async def overtaking(ctx: Context) -> None:
    """What was opened later began first: the step before it waits for a nap."""

    async def later() -> None:
        await ctx.sleep("nap", 0.2)
        await ctx.step("after the nap", nothing)

    async def at_once() -> None:
        await ctx.step("at once", nothing)

    await asyncio.gather(later(), at_once())


@handler("pack")
async def pack(payload: object) -> object:
    return payload


@tool
def steep(minutes: int) -> str:
    """How strong the tea gets."""
    return "strong" if minutes > 3 else "mild"


@tool(needs_approval=True)
def pour(cups: int) -> str:
    """Pours tea. A person has to agree."""
    return f"poured {cups}"


def taster(name: str, model: str) -> object:
    """An agent that may steep and pour, and chooses who gets the tea."""
    return graph(
        {
            "name": name,
            "nodes": [
                {
                    "id": "taste",
                    "type": "agent",
                    "config": {"prompt": "How is the tea?", "instructions": "You taste tea."},
                    "agent_config": {"model": model, "available_tools": ["steep", "pour"]},
                    "retry": {"max_attempts": 2, "backoff_ms": 1},
                    "branch": {"type": "agent_driven", "available_next_nodes": ["guest", "cook"], "default": ["cook"]},
                },
                {"id": "guest", "type": "transform", "config": {"output": "served"}},
                {"id": "cook", "type": "transform", "config": {"output": "kept"}},
            ],
        }
    )


TASTER = taster("taster", "priced")
FREE_TASTER = taster("free_taster", "free")

PARCEL = graph(
    {"name": "parcel", "nodes": [{"id": "pack", "type": "task", "config": {"handler": "pack"}}], "edges": []}
)
BILL = refs({"id": "bill", "steps": [{"name": "sum", "action": {"return": True}, "input": {"total": "@input.cups"}}]})
STAMP = afl("namespace post { workflow Stamp() => (cents: Long = 85) }", "post.Stamp")


@workflow
async def family(ctx: Context, cups: int) -> object:
    """A child of each dialect that needs no catalog."""
    await ctx.child("letter", thank, "Ada")
    await ctx.child("bill", BILL, {"cups": cups})
    await ctx.child("stamp", STAMP, {})
    return await ctx.child("parcel", PARCEL, {"cups": cups})


COURIER = {"id": "courier", "steps": [{"name": "handover", "action": {"function": "handover"}, "input": {"grams": 7}}]}


@step(name="handover", max_attempts=1)
async def hand_over(grams: int) -> None:
    raise CriticalError("nobody is at home")


POST = graph(
    {
        "name": "post",
        "nodes": [
            {
                "id": "deliver",
                "type": "run",
                "config": {"dialect": "refs", "definition": COURIER},
            },
            {"id": "thank", "type": "task", "config": {"handler": "pack"}},
        ],
        "edges": [{"from": "deliver", "to": "thank"}],
    }
)


@workflow
async def sending(ctx: Context) -> None:
    """It fails in a `refs` run, which is the child of a `graph` run, which is the child of this one."""
    await ctx.child("post", POST, {})


@step(max_attempts=1)
async def refuse_release(undo: Undo) -> None:
    raise CriticalError("the shelf is locked")


@workflow
async def stuck_undo(ctx: Context, order: Order) -> None:
    """Its payment fails, and so does the compensation of what it did before."""
    await ctx.step("reserve", reserve, order, rollback=refuse_release)
    await ctx.step("take payment", take_payment)


@workflow
async def doorbell(ctx: Context) -> int:
    """Waits for a message in its second iteration."""

    async def ring(c: Context, count: int):
        if count == 1:
            await c.listen("open")
        return Loop.break_(count) if count == 1 else Loop.continue_(count + 1)

    return await ctx.loop("rings", ring, state=0, returns=int)
