"""A day of work that writes into every table: labels, log lines, errors, large values, children, messages, timers,
approvals, queues with a rate, forks, schedules, snapshots, and the audit log.

Time moves by days: the engine's clock is the system's, and further ahead each day. All else is real.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from plait import Context, Engine, Retry, step, step_log, workflow
from plait.api.caller import Caller
from plait.api.retention import RetentionRules
from plait.errors import RunFailed
from plait.kernel.clock import SystemClock
from plait.kernel.ids import Millis
from plait.server.auth import Audit

DAY = Millis(86_400_000)
SHARED = "a value that all runs have " * 2_000
_WHO = Caller("ada", "admin", "default", "open", id="k")


class MovingClock(SystemClock):
    """The system's, so far ahead."""

    def __init__(self) -> None:
        self.ahead = Millis(0)

    def now(self) -> Millis:
        return Millis(super().now() + self.ahead)


@step
async def charge(order: str) -> str:
    step_log(f"charged {order}")
    return order


@step
async def enlarge(order: str) -> str:
    return secrets.token_hex(25_000) + order


@step
async def same() -> str:
    return SHARED


@step(retry=Retry(max_attempts=1))
async def decline(order: str) -> None:
    raise ValueError(f"the card of {order} was declined")


@workflow
async def ordered(ctx: Context, order: str) -> str:
    for part in range(3):
        await ctx.step(f"charge-{part}", charge, order)
    return order


@workflow
async def declined(ctx: Context, order: str) -> None:
    await ctx.step("decline", decline, order)


@workflow
async def large(ctx: Context, order: str) -> int:
    return len(await ctx.step("enlarge", enlarge, order)) + len(await ctx.step("same", same))


@workflow
async def family(ctx: Context, order: str) -> str:
    await ctx.start_child("later", outliving, order, id=f"{order}-later")
    return await ctx.child("part", ordered, order)


@workflow
async def outliving(ctx: Context, order: str) -> str:
    """The run that started it has gone when it ends."""
    await ctx.sleep("days", timedelta(days=2))
    return order


@workflow
async def told(ctx: Context, order: str) -> Any:
    message = await ctx.listen("go", timeout=timedelta(hours=1))
    return message and message.body


@workflow
async def asked(ctx: Context, order: str) -> str:
    return (await ctx.approve("refund", by="desk", timeout=timedelta(hours=1))).decision


@workflow
async def counted(ctx: Context, steps: int) -> int:
    return sum([await ctx.step(f"add-{i}", number) for i in range(steps)])


@step
async def number() -> int:
    return 1


_PARTS = 4
"""Of a day."""
FLOWS = [ordered, declined, large, family, told, asked]
DEFINITIONS = [*FLOWS, counted, outliving]


@dataclass(frozen=True, slots=True)
class Work:
    """Of a day."""

    runs: int
    at_once: int = 32
    steps: int = 600
    """Of the one run that is long enough for snapshots."""


async def prepare(engine: Engine) -> None:
    await engine.retention.set(RetentionRules(completed=DAY, failed=DAY, cancelled=DAY, audit=DAY))
    await engine.queues.set("emails", concurrency=50, rate=1000)
    await engine.schedules.create("report", ordered, "report", every=6 * 3600, labels={"by": "schedule"})


async def spend_day(
    engine: Engine, clock: MovingClock, day: int, work: Work, passed: Callable[[int], Awaitable[None]]
) -> None:
    """In parts, after each of which runs go whose time is over. What waits at the end of one goes on in the next."""
    await (await engine.start(counted, work.steps)).result()
    for part in range(_PARTS):
        numbers = iter(range(part, work.runs, _PARTS))
        await asyncio.gather(*(_keep_one_going(engine, day, numbers) for _ in range(work.at_once)))
        for number in range(work.runs // _PARTS // 10):
            await Audit(engine.records, clock).record(_WHO, "run.start", f"{day}-{number}", "ok")
        clock.ahead = Millis(clock.ahead + DAY // _PARTS)
        await passed(DAY // _PARTS)
        await _settle(engine)
        await engine.retention.apply()


async def _settle(engine: Engine) -> None:
    """Until all that is due now has gone on: a clock that jumps is noticed a moment later, and these days are short."""
    kernel = engine.kernel
    kernel._timers.look_soon()
    while not kernel.idle or await _is_due(engine):
        await asyncio.sleep(0.01)


async def _is_due(engine: Engine) -> bool:
    census = await engine.kernel.store.census()
    return census.due is not None and census.due <= engine.kernel.clock.now()


async def _keep_one_going(engine: Engine, day: int, numbers: Iterator[int]) -> None:
    for number in numbers:
        await _one(engine, day, number)


async def _one(engine: Engine, day: int, number: int) -> None:
    order = f"order-{day}-{number}"
    labels = {"customer": f"customer-{day}-{number % 100}", "env": "prod"}
    flow = FLOWS[number // 2 % len(FLOWS)] if number % 2 else ordered
    queue = "emails" if number % 10 == 4 else None
    handle = await engine.start(flow, order, id=order if number % 4 else None, labels=labels, queue=queue)
    if flow is told and number % 3:
        await handle.message("go", "x" * 200)
    if flow is asked:
        return  # decided by nobody: it ends tomorrow
    if flow in (told, family) and not number % 3:
        return
    with contextlib.suppress(RunFailed):
        await handle.result()
    if number % 50 == 7:
        await handle.fork(at=3)
