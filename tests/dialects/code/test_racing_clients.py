"""Many clients send while listeners race, time out and are cancelled: what was sent is heard once, or waits."""

import asyncio
import contextlib
from random import Random
from typing import Any

import pytest

from plait import Context, Loop, workflow
from plait.errors import Conflict
from plait.testing import Sim, SimRun
from tests.support.effort import tries

from .conftest import Simulate

NAMES = ("x", "y")
CLIENTS = 4
EACH = 6


async def _race(ctx: Context) -> list[Any]:
    won = await ctx.race("r", x=lambda c: c.listen("x"), y=lambda c: c.listen("y"), t=lambda c: c.sleep("t", 1))
    return [] if won.winner == "t" else [won.value]


async def _wait(ctx: Context) -> list[Any]:
    tasks = [asyncio.ensure_future(ctx.listen(name, timeout=2)) for name in NAMES]
    done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in pending:
        task.cancel()
    return [task.result() for task in done]


async def _timeout(ctx: Context) -> list[Any]:
    found: list[Any] = []
    with contextlib.suppress(TimeoutError):
        async with ctx.timeout("t", ctx.random().choice((0, 1))):
            found += await ctx.listen_n("n", NAMES, limit=3)
    return found


async def _group(ctx: Context) -> list[Any]:
    found: list[Any] = []

    async def hear(name: str) -> None:
        found.append(await ctx.listen(name))

    async def fail() -> None:
        await ctx.sleep("soon", ctx.random().choice((0, 1)))
        raise ValueError

    with contextlib.suppress(ExceptionGroup):
        async with asyncio.TaskGroup() as group:
            for work in (hear("x"), hear("y"), fail()):
                group.create_task(work)
    return found


WAYS = [_race, _wait, _timeout, _group]


@workflow
async def reader(ctx: Context, times: int) -> list[str]:
    async def body(c: Context, heard: list[str]) -> Any:
        number = int(c.path.rpartition("~")[2])
        found = await c.random().choice(WAYS)(c)
        heard = [*heard, *(message.id for message in found if message is not None)]
        return Loop.continue_(heard) if number + 1 < times else Loop.break_(heard)

    nothing: list[str] = []
    return await ctx.loop("l", body, state=nothing)


async def client(s: Sim, run: SimRun, number: int, random: Random, sent: list[str]) -> None:
    for n in range(EACH):
        await s.clock.sleep(random.choice((0, 0, 0.5, 1, 3)))
        id = f"{number}-{n}"
        try:
            await run.message(random.choice(NAMES), id=id)
        except Conflict:  # the run has ended
            return
        sent.append(id)


async def queued(s: Sim, run: SimRun) -> list[str]:
    peeked = await s.engine.kernel.peek(await run.row())
    machine: Any = peeked.machine
    return list(machine.history.queue)


@pytest.mark.chance
@pytest.mark.parametrize("seed", range(tries(10)))
async def test_what_was_sent_is_what_was_heard_and_what_waits(seed: int, simulate: Simulate) -> None:
    random = Random(seed)
    sent: list[str] = []
    async with simulate([reader], seed=seed) as s:
        run = await s.start(reader, 40)
        clients = [asyncio.ensure_future(client(s, run, n, random, sent)) for n in range(CLIENTS)]
        for _ in range(4):
            await s.clock.advance(random.choice((1, 2, 5)))
            await s.crash()
        await s.clock.advance(30)
        await asyncio.gather(*clients)
        heard = await s.result(run)
        assert sorted([*heard, *await queued(s, run)]) == sorted(sent)
        assert heard
        (await run.history()).assert_recorded_once()
