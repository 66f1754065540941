"""One engine of a fleet, with callers of its own: told on standard input what to do, it answers with a line of JSON."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

from bench.subjects.engine import GATE
from bench.subjects.plait_engine import held, sequential
from plait import Engine
from plait.kernel.ids import SHARDS

HELD_BEFORE, HELD_AFTER = 5, 4
"""Steps of a held run, beside the one that it is killed in."""


async def main(url: str, engines: int) -> None:
    async with Engine(url, definitions=[sequential, held]) as engine:
        while not SHARDS // engines <= len(engine.kernel.leases) <= -(-SHARDS // engines):  # until all have their share
            await asyncio.sleep(0.01)
        _say({"ready": len(engine.kernel.leases)})
        while line := await asyncio.to_thread(sys.stdin.readline):
            order: dict[str, Any] = json.loads(line)
            began = time.perf_counter()
            await (_hold(engine, order["hold"]) if "hold" in order else _drive(engine, **order))
            _say({"seconds": time.perf_counter() - began})


async def _drive(engine: Engine, runs: int, steps: int, at_once: int) -> None:
    """That many runs, so many of them at a time."""
    left = iter(range(runs))

    async def caller() -> None:
        for _ in left:
            found = await (await engine.start(sequential, steps)).result()
            if found != steps * (steps - 1) // 2:
                raise RuntimeError(f"a run gave {found}")

    await asyncio.gather(*(caller() for _ in range(at_once)))


async def _hold(engine: Engine, runs: int) -> None:
    """Brings that many runs to the gate. Their ids are the engine's own, so that it owns them."""
    GATE.open = False

    async def hold(name: str) -> None:
        await engine.start(held, (name, HELD_BEFORE, HELD_AFTER))
        await GATE.arrival(name)

    await asyncio.gather(*(hold(f"held-{number}") for number in range(runs)))


def _say(found: dict[str, float]) -> None:
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
