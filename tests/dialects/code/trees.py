"""Random trees of all that waits, as data, and the workflow that follows them.

A tree is drawn from a seed. Steps that are broken fail until the world is repaired; the code may catch that and do
other things. Whatever is heard is noted, so that a message that was taken and heard by nobody shows.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from plait import Context, CriticalError, Loop, workflow
from plait.testing import VirtualClock

Tree = dict[str, Any]
NAMES = ("a", "b", "c")
MOST_LOOPS = 4
"""Around each other, each with up to three iterations."""


@dataclass
class World:
    """What steps and listeners of the tree that is played do to the outside."""

    clock: VirtualClock | None = None
    broken: bool = True
    heard: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    """Where, and the id of the message."""


world = World()


class Grower:
    def __init__(self, seed: int) -> None:
        self._random = Random(f"tree {seed}")
        self._count = 0
        self._left = self._random.choice((5, 10, 20))

    def tree(self, depth: int = 0, *, child: bool = False) -> Tree:
        self._left -= 1
        leaves = ["step", "step", "broken", "sleep", "first", *([] if child else ["listen"] * 4)]
        inner = ["seq", "gather", "group", "join", "race", "loop", "timeout", "child", "guard", "wait"]
        kind = self._random.choice(leaves if depth >= MOST_LOOPS or self._left < 0 else [*inner, *leaves[:3]])
        self._count += 1
        draw = self._random
        found: Tree = {"do": kind, "name": f"{kind}{self._count}"}
        match kind:
            case "step" | "sleep" | "timeout":
                found["seconds"] = draw.choice((0, 0, 1, 5, 30))
            case "listen":
                found["names"] = draw.sample(NAMES, draw.choice((1, 1, 2)))
                found["timeout"] = draw.choice((None, None, None, 0, 7))
                found["limit"] = draw.choice((None, None, 2))
            case "loop":
                found["times"] = draw.randint(1, 3)
            case "guard":
                found["raises"] = draw.random() < 0.3
            case _:
                pass
        if kind in inner:
            count = 1 if kind in ("loop", "timeout", "child") else 2 if kind == "guard" else draw.randint(1, 3)
            found["parts"] = [self.tree(depth + 1, child=child or kind == "child") for _ in range(count)]
        return found


def without_children(tree: Tree) -> Tree:
    """What an embedded run can play: it has no children."""
    parts = [without_children(part) for part in tree.get("parts", [])]
    return tree | ({"parts": parts} if parts else {}) | ({"do": "seq"} if tree["do"] == "child" else {})


async def follow(ctx: Context, tree: Tree) -> Any:
    return await _FOLLOW[tree["do"]](ctx, tree)


@workflow(name="tree")
async def grown(ctx: Context, tree: Tree) -> Any:
    return await follow(ctx, tree)


async def _step(ctx: Context, tree: Tree) -> Any:
    async def work() -> str:
        if tree["seconds"] and world.clock is not None:
            await world.clock.sleep(tree["seconds"])
        return tree["name"]

    return await ctx.step(tree["name"], work, timeout=None)


async def _broken(ctx: Context, tree: Tree) -> Any:
    async def work() -> str:
        if world.broken:
            raise CriticalError(tree["name"])
        return tree["name"]

    return await ctx.step(tree["name"], work)


async def _sleep(ctx: Context, tree: Tree) -> Any:
    await ctx.sleep(tree["name"], tree["seconds"])


async def _first(ctx: Context, tree: Tree) -> Any:
    """Leaves a generator whose end is a step."""

    async def numbers() -> AsyncGenerator[int]:
        try:
            yield 1
            yield 2
        finally:
            await ctx.step(f"{tree['name']}.end", asyncio.sleep, 0)

    async for number in numbers():
        return number


async def _listen(ctx: Context, tree: Tree) -> Any:
    name, names, timeout = tree["name"], tree["names"], tree["timeout"]
    limits: dict[str, Any] = {} if timeout is None else {"timeout": timeout}
    if tree["limit"] is None:
        message = await ctx.listen(name, names, **limits)
        found = [] if message is None else [message]
    else:
        found = await ctx.listen_n(name, names, limit=tree["limit"], **limits)
    place = f"{ctx.path}/{name}" if ctx.path else name
    world.heard.update((place, message.id) for message in found)
    return [message.id for message in found]


async def _seq(ctx: Context, tree: Tree) -> Any:
    return [await follow(ctx, part) for part in tree["parts"]]


async def _gather(ctx: Context, tree: Tree) -> Any:
    return await asyncio.gather(*[follow(ctx, part) for part in tree["parts"]])


async def _group(ctx: Context, tree: Tree) -> Any:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(follow(ctx, part)) for part in tree["parts"]]
    return [task.result() for task in tasks]


async def _wait(ctx: Context, tree: Tree) -> Any:
    tasks = [asyncio.ensure_future(follow(ctx, part)) for part in tree["parts"]]
    done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in pending:
        task.cancel()
    await asyncio.gather(*pending, return_exceptions=True)
    return [task.result() for task in tasks if task in done]


def _branches(tree: Tree) -> dict[str, Callable[[Context], Awaitable[Any]]]:
    def branch(part: Tree) -> Callable[[Context], Awaitable[Any]]:
        return lambda ctx: follow(ctx, part)

    return {part["name"]: branch(part) for part in tree["parts"]}


async def _join(ctx: Context, tree: Tree) -> Any:
    return dict(await ctx.join(tree["name"], _branches(tree)))


async def _race(ctx: Context, tree: Tree) -> Any:
    won = await ctx.race(tree["name"], _branches(tree))
    return [won.winner, won.value]


async def _loop(ctx: Context, tree: Tree) -> Any:
    async def body(inner: Context, left: int) -> Any:
        await follow(inner, tree["parts"][0])
        return Loop.continue_(left - 1) if left > 1 else Loop.break_()

    return await ctx.loop(tree["name"], body, state=tree["times"], commit_interval=2, history_keep=1000)


async def _timeout(ctx: Context, tree: Tree) -> Any:
    with contextlib.suppress(TimeoutError):
        async with ctx.timeout(tree["name"], tree["seconds"]):
            return await follow(ctx, tree["parts"][0])


async def _child(ctx: Context, tree: Tree) -> Any:
    return await ctx.child(tree["name"], grown, tree["parts"][0])


async def _guard(ctx: Context, tree: Tree) -> Any:
    try:
        return await follow(ctx, tree["parts"][0])
    except Exception:
        found = await follow(ctx, tree["parts"][1])
        if tree["raises"]:
            raise
        return found


_FOLLOW: dict[str, Callable[[Context, Tree], Awaitable[Any]]] = {
    "step": _step,
    "broken": _broken,
    "sleep": _sleep,
    "first": _first,
    "listen": _listen,
    "seq": _seq,
    "gather": _gather,
    "group": _group,
    "wait": _wait,
    "join": _join,
    "race": _race,
    "loop": _loop,
    "timeout": _timeout,
    "child": _child,
    "guard": _guard,
}
