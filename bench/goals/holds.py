"""How long a large transaction and a large fan-in keep the event loop from everyone else, at a time.

In processor time of the loop's own thread: what a busy machine takes away does not count.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Awaitable
from typing import Any

from plait import Engine, goals
from plait.catalog import catalog_step

from .figures import Figure

MANY = 1_000
ROUNDS = 5
LIMIT = 20.0

CHOOSE = catalog_step("choose").required("answer", collect="some").output("choice").ale("{:choice answer}")


def measure() -> list[Figure]:
    found = [asyncio.run(_holds()) for _ in range(ROUNDS)]
    names = (f"longest hold of the loop: a transaction of {MANY:,}", f"the same: collect some of {MANY:,} providers")
    return [
        Figure(name, statistics.median(each), max(each), limit=LIMIT)
        for name, each in zip(names, zip(*found, strict=True), strict=True)
    ]


async def _holds() -> tuple[float, float]:
    async with Engine("memory:") as engine:
        async with engine.catalog.transaction() as changes:
            changes.register(_asking(-1))
            changes.register(CHOOSE)
        await _choose(engine)  # what is imported by the first script is not what is measured
        transaction = engine.catalog.transaction()
        changes = await transaction.__aenter__()
        for number in range(MANY):
            changes.register(_asking(number))
        return await _longest(transaction.__aexit__(None, None, None)), await _longest(_choose(engine))


def _asking(number: int) -> Any:
    return catalog_step(f"ask-{number}").required("question").output("answer").ale("{:answer 1}")


async def _choose(engine: Engine) -> None:
    await (await engine.start(goals("choose"), {"question": "tea?"})).result()


async def _longest(work: Awaitable[Any]) -> float:
    """Milliseconds between two turns of others while this is done."""
    done = asyncio.ensure_future(work)
    longest, last = 0.0, time.thread_time()
    while not done.done():
        await asyncio.sleep(0)
        now = time.thread_time()
        longest, last = max(longest, now - last), now
    await done
    return longest * 1000
