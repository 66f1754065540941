"""The workflows of the stored histories.

NEVER change one that has a history: this is the code that runs of an older Plait were started with, and a newer
Plait must go on with both. Add new ones at the end, with a recipe, and record them.
"""

import asyncio
from typing import Any

from plait import Context, CriticalError, Loop, RollbackError, Undo, step, step_info, workflow
from plait.agents import tool
from plait.agents.model import Model
from plait.testing import ScriptedModel

DAY = 86_400


class World:
    """What the steps find outside; `mended` lets a step that failed succeed."""

    mended = False


@step
async def double(number: int) -> int:
    return number * 2


@step(max_attempts=3)
async def third_time_lucky(number: int) -> int:
    if step_info().attempt < 3:
        raise ConnectionError(f"no luck in attempt {step_info().attempt}")
    return number + 1


@step(max_attempts=2)
async def broken_until_mended() -> str:
    if not World.mended:
        raise RuntimeError("it is broken")
    return "mended"


@step
async def forget(undo: Undo) -> None: ...


@step(max_attempts=1)
async def forget_when_mended(undo: Undo) -> None:
    if not World.mended:
        raise RuntimeError("can't forget")


@workflow
async def doubled(ctx: Context, number: int) -> int:
    return await ctx.step("double", double, number)


@workflow
async def echo(ctx: Context, parent: str) -> str:
    message = await ctx.listen("ping")
    assert message is not None
    await ctx.send("answer", parent, "pong", message.body)
    return "echoed"


@workflow
async def everything(ctx: Context, amount: int) -> dict[str, Any]:
    """Almost every kind of operation."""
    version = await ctx.version("gate", 2)
    tried = await ctx.step("try", third_time_lucky, amount)
    inline = await ctx.step("inline", lambda: {"amount": amount})
    await ctx.sleep("nap", DAY)
    await asyncio.sleep(60)
    try:
        async with ctx.timeout("limit", 10):
            await ctx.listen("never")
    except TimeoutError:
        caught = "timeout"
    else:
        caught = "nothing"
    both = await ctx.join("both", child=lambda c: c.child("child", doubled, 4), wait=lambda c: c.sleep("wait", 5))
    won = await ctx.race("race", slow=lambda c: c.sleep("slow", DAY), fast=lambda c: c.step("fast", double, 1))
    first = await ctx.listen("word", timeout=DAY)
    words = [first.body if first else None]
    while len(words) < 3:
        words += [message.body for message in await ctx.listen_n(f"words {len(words)}", "word", limit=2)]
    nothing = await ctx.listen("nothing", timeout=1)
    verdict = await ctx.approve("ok", by="boss")

    async def body(c: Context, left: int) -> Any:
        await c.step("item", double, left)
        return Loop.continue_(left - 1) if left else Loop.break_("empty")

    items = await ctx.loop("items", body, state=6, commit_interval=2, history_every=2, history_keep=1)
    return {
        "version": version,
        "tried": tried,
        "inline": inline,
        "caught": caught,
        "both": both.child,
        "won": won.winner,
        "words": words,
        "nothing": nothing,
        "approved": verdict.approved,
        "items": items,
        "random": [ctx.random().random(), str(ctx.uuid())],
    }


@workflow
async def countersigned(ctx: Context) -> list[Any]:
    """Needs two signatures, one of them of somebody who is asked later."""
    names = ["ada", "bob"]
    first = await ctx.approve("sign", required=2, approvers=names, escalate_after=DAY, escalate_to=["cleo"])
    return [first.approved, first.by]


@workflow
async def chatting(ctx: Context) -> list[Any]:
    """Talks to a child while it runs."""
    friend = f"{ctx.run_id}-friend"
    task = asyncio.ensure_future(ctx.child("friend", echo, ctx.run_id, id=friend))
    await ctx.send("ping", friend, "ping", "hello")
    pong = await ctx.listen("pong")
    return [pong.body if pong is not None else None, await task]


@workflow
async def regretted(ctx: Context) -> None:
    """Two steps to undo, one by a handler that only the code knows."""
    await ctx.step("named", double, 1, rollback=forget)

    async def inline(undo: Undo) -> None: ...

    await ctx.step("inline", double, 2, rollback=inline)
    raise RollbackError("changed my mind")


@workflow
async def stuck_in_rollback(ctx: Context) -> None:
    await ctx.step("easy", double, 1, rollback=forget)
    await ctx.step("hard", double, 2, rollback=forget_when_mended)
    await ctx.step("harder", double, 3, rollback=forget_when_mended)
    raise CriticalError("it went wrong")


@workflow
async def patient(ctx: Context) -> str:
    await ctx.step("hold", double, 1, rollback=forget)
    message = await ctx.listen("go")
    return f"went {message.body if message is not None else 'nowhere'}"


@workflow
async def mendable(ctx: Context) -> str:
    await ctx.step("before", double, 1)
    found = await ctx.step("mend", broken_until_mended)
    return f"{found}, {await ctx.step('after', double, 2)}"


@workflow
async def lossy(ctx: Context) -> int:
    """Whose losing branch ends too late."""
    won = await ctx.race(
        "race", slow=lambda c: c.sleep("slow", DAY), lucky=lambda c: c.step("lucky", third_time_lucky, 1)
    )
    return won.value  # pyright: ignore[reportReturnType]


@workflow
async def changed(ctx: Context) -> int:
    """Was deployed once without `first`, and blocked its runs until it was put back."""
    first = await ctx.step("first", double, 1)
    await ctx.sleep("nap", DAY)
    return first + await ctx.step("second", double, 2)


@workflow
async def bulky(ctx: Context, text: str) -> str:
    """Whose values are too large for an event."""
    again = await ctx.step("again", lambda: text + text)
    return again[: len(text)]


@step(queue="gpu")
async def rendered(page: int) -> str:
    raise AssertionError("a worker does this")


@workflow
async def printed(ctx: Context, page: int) -> str:
    """Whose step another process does."""
    return await ctx.step("render", rendered, page)


@workflow
async def undoable(ctx: Context, number: int) -> int:
    return await ctx.step("double", double, number, rollback=forget)


@workflow
async def regretted_with_child(ctx: Context) -> None:
    """Whose child has something to undo too."""
    await ctx.step("before", double, 1, rollback=forget)
    await ctx.child("child", undoable, 2)
    await ctx.step("after", double, 3, rollback=forget)
    raise RollbackError("changed my mind")


@workflow
async def delegated(ctx: Context) -> list[Any]:
    """Waits for somebody who hands it on to another; both are told, as far as a mail server is there."""
    verdict = await ctx.approve("sign", approvers=["ada"])
    return [verdict.approved, verdict.by]


@workflow
async def tallied(ctx: Context, total: int) -> int:
    """Adds what it is told to, says how much it is, and begins anew once."""
    added: list[int] = []

    async def add(ctx: Context, number: int) -> int:
        added.append(await ctx.step("check", lambda: number))
        ctx.publish("total", total + sum(added))
        return total + sum(added)

    ctx.on_update("add", add)
    await ctx.listen("enough")
    if total:
        return total + sum(added)
    ctx.continue_as_new(sum(added))


@tool(needs_approval=True)
def grant(percent: int) -> str:
    """Grants a discount."""
    return f"{percent} % granted"


@workflow
async def advised(ctx: Context) -> Any:
    return await ctx.agent("advice", "Be generous", {"spent": 900}, model="m", tools=["grant"])


def models() -> dict[str, Model]:
    """Anew for each simulation."""
    script = [
        {"tool": "patch_workflow", "args": {}},
        {"tool": "grant", "args": {"percent": 10}},
        {"error": "rate_limited", "retry_after": 60},
        {"output": "ten percent", "reasoning": "a good customer"},
    ]
    return {"m": ScriptedModel({"advice": script})}


DEFINITIONS = [
    advised,
    grant,
    tallied,
    everything,
    countersigned,
    chatting,
    doubled,
    echo,
    regretted,
    stuck_in_rollback,
    patient,
    mendable,
    lossy,
    changed,
    bulky,
    printed,
    undoable,
    regretted_with_child,
    delegated,
]
