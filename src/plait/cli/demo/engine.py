"""The demo's engine: a process that works on a given database until its stdin is closed."""

from __future__ import annotations

import asyncio
import sys

from plait.demo import workflows
from plait.registry.engine import Engine


async def work(db: str) -> None:
    async with Engine(db, definitions=[workflows]):
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(work(sys.argv[1]))
