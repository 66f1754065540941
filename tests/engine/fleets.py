"""Engines of one fleet: made, waited for, and asked."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from plait import Engine
from plait.kernel.ids import SHARDS

TTL = 600.0
"""Seconds, so long that nothing in these tests waits for a lease."""


def engine(url: str, *definitions: object, **options: Any) -> Engine:
    return Engine(url, definitions=definitions, lease_ttl=TTL, **options)


async def kill(engine: Engine) -> None:
    """Ends it as a crash does, and gives back what it holds of this process, which goes on: connections, threads, and
    the settings of garbage collection."""
    await engine.kernel.crash()
    await engine.kernel.store.close()
    await engine.executors.close()
    upkeep = engine._upkeep  # pyright: ignore[reportPrivateUsage]
    assert upkeep is not None
    await upkeep.stop()


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    while not await condition():  # noqa: ASYNC110 -- another engine does it
        await asyncio.sleep(0.01)


async def share(*engines: Engine) -> None:
    """Waits until each has its share of the shards."""
    fair = SHARDS // len(engines)

    async def shared() -> bool:
        return all(len(each.kernel.leases.of_pool("")) == fair for each in engines)

    await until(shared)
