"""One engine of a fleet, with callers of its own: told on standard input what to do, it answers with a line of JSON."""

from __future__ import annotations

import asyncio
import json
import sys
import time

from bench.subjects.plait_engine import sequential
from plait import Engine
from plait.kernel.ids import SHARDS


async def main(url: str, engines: int) -> None:
    async with Engine(url, definitions=[sequential]) as engine:
        while len(engine.kernel.leases) * engines > SHARDS + engines * engines:  # the others take their share
            await asyncio.sleep(0.01)
        _say({"ready": len(engine.kernel.leases)})
        while line := await asyncio.to_thread(sys.stdin.readline):
            _say({"seconds": await _drive(engine, **json.loads(line))})


async def _drive(engine: Engine, runs: int, steps: int, at_once: int) -> float:
    """That many runs, so many of them at a time."""
    left = iter(range(runs))
    began = time.perf_counter()

    async def caller() -> None:
        for _ in left:
            found = await (await engine.start(sequential, steps)).result()
            if found != steps * (steps - 1) // 2:
                raise RuntimeError(f"a run gave {found}")

    await asyncio.gather(*(caller() for _ in range(at_once)))
    return time.perf_counter() - began


def _say(found: dict[str, float]) -> None:
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
