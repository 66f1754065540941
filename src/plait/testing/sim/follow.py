"""The workflow that follows a plan, and the child workflow it chats with."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

from plait.dialects.code.context import Context
from plait.dialects.code.definition import workflow
from plait.dialects.code.errors import CriticalError, RollbackError, StepError
from plait.dialects.code.loops import Loop as Verdict
from plait.dialects.code.options import StepOptions
from plait.dialects.code.steps import Undo
from plait.kernel.retry import Retry

from .plan import (
    AnyNode,
    Approve,
    Chat,
    Child,
    Contest,
    Draw,
    Fail,
    First,
    Gather,
    Guard,
    Join,
    Listen,
    Loop,
    Pipe,
    Race,
    Seq,
    Sleep,
    Timeout,
    Version,
    Work,
)
from .world import World, undo_work, undo_work_with_luck, work

PEOPLE = ["ann", "bob"]
ASK = "ask"
"""The update that every run answers."""


class PlanError(Exception):
    """The plan makes the run fail here."""


@workflow(retry=Retry(max_attempts=4, first=1.0))
async def follow(ctx: Context, plan: AnyNode) -> Any:
    ctx.on_update(ASK, _answer)
    return await play(ctx, plan)


async def _answer(ctx: Context, number: int) -> int:
    await ctx.step("look up", work, Work("look up", fails=number % 2))
    return 2 * number


@workflow
async def echo(ctx: Context, order: dict[str, Any]) -> list[Any]:
    """Sends each message that it gets back to its parent."""
    heard: list[Any] = []
    for number in range(order["count"]):
        message = await ctx.listen(f"hear{number}", "ping")
        heard.append(message.body if message is not None else None)
        await ctx.send(f"say{number}", order["parent"], order["reply"], heard[-1])
    return heard


async def play(ctx: Context, node: AnyNode) -> Any:
    return await _PLAYERS[type(node)](ctx, node)


async def _work(ctx: Context, node: Work) -> Any:
    options: StepOptions = {}
    if node.ends == "timeout":
        options["timeout"] = 5.0
    elif node.takes or node.ends == "silent":
        options["timeout"] = None
    if node.ends == "silent":
        options["heartbeat_timeout"] = 5.0
    if node.undo is not None:
        options["rollback"] = {"named": undo_work, "flaky": undo_work_with_luck, "inline": _undo_inline}[node.undo]
    if not node.inline:
        return await ctx.step(node.name, work, node, **options)

    async def inline() -> dict[str, Any]:  # not a lambda: that would run in a thread, whose timing is not deterministic
        return await work(node)

    return await ctx.step(node.name, inline, **options)


async def _undo_inline(undo: Undo) -> None:
    await World.current.note(undo=True)


async def _sleep(ctx: Context, node: Sleep) -> Any:
    await (asyncio.sleep(node.seconds) if node.plain else ctx.sleep(node.name, node.seconds))
    return "slept"


async def _seq(ctx: Context, node: Seq) -> Any:
    return [await play(ctx, part) for part in node.parts]


async def _gather(ctx: Context, node: Gather) -> Any:
    plays = [play(ctx, part) for part in node.parts]
    match node.how:
        case "gather":
            return await asyncio.gather(*plays)
        case "group":
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(part) for part in plays]
            return [task.result() for task in tasks]
        case "completed":
            done, _ = await asyncio.wait([asyncio.ensure_future(part) for part in plays])
            return sorted(str(task.result()) for task in done)


async def _join(ctx: Context, node: Join) -> Any:
    return dict(await ctx.join(node.name, _branches(node.parts)))


async def _race(ctx: Context, node: Race) -> Any:
    won = await ctx.race(node.name, _branches(node.parts))
    return {won.winner: won.value}


def _branches(parts: list[AnyNode]) -> dict[str, Callable[[Context], Awaitable[Any]]]:
    def branch(part: AnyNode) -> Callable[[Context], Awaitable[Any]]:
        return lambda ctx: play(ctx, part)

    return {f"b{number}": branch(part) for number, part in enumerate(parts)}


async def _loop(ctx: Context, node: Loop) -> Any:
    async def body(inner: Context, results: list[Any]) -> Any:
        now = [*results, await play(inner, node.body)]
        return Verdict.break_(now) if len(now) >= node.times else Verdict.continue_(now)

    nothing: list[Any] = []
    return await ctx.loop(
        node.name, body, state=nothing, commit_interval=node.commit, history_every=node.every, history_keep=node.keep
    )


async def _timeout(ctx: Context, node: Timeout) -> Any:
    async with asyncio.timeout(node.seconds) if node.plain else ctx.timeout(node.name, node.seconds):
        return await play(ctx, node.body)


async def _listen(ctx: Context, node: Listen) -> Any:
    if node.timeout is not None:
        return {"nothing": await ctx.listen(node.name, timeout=node.timeout)}
    heard: list[Any] = []
    number = 0
    while len(heard) < node.count:
        number += 1
        if node.batch:
            left = node.count - len(heard)
            heard += [m.body for m in await ctx.listen_n(f"{node.name}.{number}", node.name, limit=left)]
        else:
            message = await ctx.listen(f"{node.name}.{number}", [node.name, "unheard-of"])
            heard.append(message.body if message is not None else None)
    return heard


async def _contest(ctx: Context, node: Contest) -> Any:
    """Their messages are sent before the one that opens the contest, so both have arrived."""
    names = [f"{node.name}.x", f"{node.name}.y"]
    await ctx.listen(f"{node.name}.go")
    heard = [message for message in await _CONTESTS[node.how](ctx, node.name, names) if message is not None]
    left = [name for name in names if name not in [message.name for message in heard]]
    heard += [message for name in left if (message := await ctx.listen(f"{name}.left", name)) is not None]
    return [[message.name, message.body] for message in heard]


async def _by_race(ctx: Context, name: str, names: list[str]) -> list[Any]:
    def listen(name: str) -> Callable[[Context], Awaitable[Any]]:
        return lambda ctx: ctx.listen(name)

    return [(await ctx.race(name, {each: listen(each) for each in names})).value]


async def _by_wait(ctx: Context, name: str, names: list[str]) -> list[Any]:
    tasks = [asyncio.ensure_future(ctx.listen(each)) for each in names]
    done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in pending:
        task.cancel()
    return [task.result() for task in done]


async def _by_timeout(ctx: Context, name: str, names: list[str]) -> list[Any]:
    with contextlib.suppress(TimeoutError):
        async with ctx.timeout(f"{name}.timeout", 0):
            return [await ctx.listen(each) for each in names]
    return []


async def _by_group(ctx: Context, name: str, names: list[str]) -> list[Any]:
    tasks: list[asyncio.Task[Any]] = []
    with contextlib.suppress(ExceptionGroup):
        async with asyncio.TaskGroup() as group:
            tasks += [group.create_task(_listen_to(ctx, each)) for each in names]
            group.create_task(_fail(ctx, Fail(name)))
    return [task.result() for task in tasks if not task.cancelled()]


async def _listen_to(ctx: Context, name: str) -> Any:
    return await ctx.listen(name)


_CONTESTS = {"race": _by_race, "wait": _by_wait, "timeout": _by_timeout, "group": _by_group}


async def _approve(ctx: Context, node: Approve) -> Any:
    if node.required == 1:
        return (await ctx.approve(node.name, by="people", timeout=node.timeout)).decision
    # One of the two may vote only after the escalation
    verdict = await ctx.approve(
        node.name,
        timeout=node.timeout,
        required=node.required,
        approvers=PEOPLE[:1],
        escalate_after=1,
        escalate_to=PEOPLE[1:],
    )
    return verdict.decision


async def _child(ctx: Context, node: Child) -> Any:
    id = {"own": None, "fixed": f"{ctx.run_id}.{ctx.path.replace('/', '.')}.{node.name}", "taken": ctx.run_id}[node.id]
    keep = "abandon" if node.abandon else "cancel"
    return await ctx.child(node.name, follow, node.plan, id=id, on_parent_close=keep)


async def _chat(ctx: Context, node: Chat) -> Any:
    place = f"{ctx.path.replace('/', '.')}.{node.name}"
    reply, friend = f"pong.{place}", f"{ctx.run_id}.{place}"
    order = {"parent": ctx.run_id, "reply": reply, "count": node.count}
    task = asyncio.ensure_future(ctx.child(node.name, echo, order, id=friend))
    for number in range(node.count):
        await ctx.send(f"{node.name}.say{number}", friend, "ping", number)
    heard: list[Any] = []
    for number in range(node.count):
        message = await ctx.listen(f"{node.name}.hear{number}", reply)
        heard.append(message.body if message is not None else None)
    return {"said": await task, "heard": heard}


async def _first(ctx: Context, node: First) -> Any:
    tasks = [asyncio.ensure_future(play(ctx, part)) for part in node.parts]
    done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in pending:
        task.cancel()
    ends = await asyncio.gather(*pending, return_exceptions=True)
    return [*(task.result() for task in done), *(type(end).__name__ for end in ends)]


async def _pipe(ctx: Context, node: Pipe) -> Any:
    queue: asyncio.Queue[Any] = asyncio.Queue(1)
    lock = asyncio.Lock()

    async def produce() -> None:
        for part in node.parts:
            async with lock:
                await queue.put(await play(ctx, part))

    async def consume() -> list[Any]:
        return [await queue.get() for _ in node.parts]

    _, results = await asyncio.gather(produce(), consume())
    return results


async def _version(ctx: Context, node: Version) -> Any:
    return await ctx.version(node.name, node.latest)


async def _draw(ctx: Context, node: Draw) -> Any:
    return [ctx.random().random(), str(ctx.uuid())]


async def _guard(ctx: Context, node: Guard) -> Any:
    try:
        return await play(ctx, node.body)
    except (StepError, CriticalError, ExceptionGroup, TimeoutError) as error:
        if node.lets_pass and not isinstance(error, TimeoutError):
            raise
        return {"caught": type(error).__name__}


async def _fail(ctx: Context, node: Fail) -> Any:
    if node.rollback:
        raise RollbackError(f"{node.name} wants it undone")
    raise PlanError(f"{node.name} fails")


_PLAYERS: dict[type[Any], Callable[[Context, Any], Awaitable[Any]]] = {
    Work: _work,
    Sleep: _sleep,
    Seq: _seq,
    Gather: _gather,
    Join: _join,
    Race: _race,
    Loop: _loop,
    Timeout: _timeout,
    Listen: _listen,
    Contest: _contest,
    Approve: _approve,
    Child: _child,
    Chat: _chat,
    First: _first,
    Pipe: _pipe,
    Version: _version,
    Draw: _draw,
    Guard: _guard,
    Fail: _fail,
}

DEFINITIONS = [follow, echo]
