"""The loop beside the bare model call, and agents that wait for slow models: `python -m bench.agents`."""

from __future__ import annotations

import asyncio
import gc
import time
import tracemalloc
from typing import Any

from plait import Engine, graph
from plait.agents.model import ModelReply, ModelRequest, Usage
from plait.testing import ScriptedModel

TURNS, RUNS, WAITING = 20, 20, 1_000
MOST_MS, MOST_KB = 2.0, 50.0
_CALL = {"tool": "execute_pipeline", "args": {"pipeline": [{"step": "top_k", "k": 1}]}}


def _graph(max_turns: int = TURNS + 1) -> Any:
    settings = {"model": "m", "max_turns": max_turns}
    return graph({"name": "bench", "nodes": [{"id": "a", "type": "agent", "agent_config": settings}]})


async def _bare(script: list[Any]) -> float:
    """Seconds of a turn, without a loop."""
    model = ScriptedModel({"": script}, True)
    begin = time.perf_counter()
    for _ in range(TURNS * RUNS):
        await model.complete(ModelRequest(model="m", messages=()))
    return (time.perf_counter() - begin) / (TURNS * RUNS)


async def _loop(script: list[Any], url: str) -> float:
    async with Engine(url, models={"m": ScriptedModel({"a": script})}) as engine:
        await (await engine.start(_graph(), [1])).result()  # what is loaded with the first
        begin = time.perf_counter()
        for _ in range(RUNS):
            await (await engine.start(_graph(), [1])).result()
        return (time.perf_counter() - begin) / (TURNS * RUNS)


class _Slow:
    """Answers when it is told."""

    def __init__(self) -> None:
        self.asked = 0
        self.all = asyncio.Event()
        self.go = asyncio.Event()

    async def complete(self, request: ModelRequest) -> ModelReply:
        self.asked += 1
        if self.asked == WAITING:
            self.all.set()
        await self.go.wait()
        return ModelReply("fine", usage=Usage(1, 1))


async def _memory() -> float:
    """Bytes of an agent that waits for its model."""
    slow = _Slow()
    async with Engine("memory:", models={"m": slow}) as engine:
        await engine.definitions.list()
        gc.collect()
        tracemalloc.start()
        handles = [await engine.start(_graph(), [1]) for _ in range(WAITING)]
        await slow.all.wait()
        gc.collect()
        used, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        slow.go.set()
        await asyncio.gather(*(handle.result() for handle in handles))
    return used / WAITING


async def main() -> None:
    script: list[Any] = [*[_CALL] * (TURNS - 1), {"output": "done"}]
    bare, loop = await _bare(script), await _loop(script, "memory:")
    over = (loop - bare) * 1000
    print(
        f"a turn: bare {bare * 1000:.3f} ms, in the loop {loop * 1000:.2f} ms, overhead {over:.2f} ms (≤ {MOST_MS} ms)"
    )
    used = await _memory() / 1000
    print(f"{WAITING:,} agents that wait for their model: {used:.1f} kB each (≤ {MOST_KB:g} kB)")


if __name__ == "__main__":
    asyncio.run(main())
