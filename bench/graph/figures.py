"""Graphs with native handlers on one SQLite file: many chains at once, one chain alone, and a fan-out into a join."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import uvloop

from bench.figure_table import Figure
from bench.targets import Limit
from plait import Engine, graph, handler

NODES, WIDE = 10, 1_000
AT_ONCE = 200


@handler
async def work(payload: Any) -> Any:
    return payload


def node(id: str) -> dict[str, Any]:
    return {"id": id, "type": "task", "config": {"handler": "work"}}


def edge(source: str, target: str) -> dict[str, str]:
    return {"from": source, "to": target}


CHAIN = graph(
    {
        "name": "chain",
        "nodes": [node(f"n{i}") for i in range(NODES)],
        "edges": [edge(f"n{i}", f"n{i + 1}") for i in range(NODES - 1)],
    }
)
_MIDDLE = [f"w{i}" for i in range(WIDE - 2)]
FAN = graph(
    {
        "name": "fan",
        "nodes": [node(id) for id in ("split", *_MIDDLE, "join")],
        "edges": [edge("split", id) for id in _MIDDLE] + [edge(id, "join") for id in _MIDDLE],
        "limits": {"max_fanout": WIDE},
    }
)


def measure(runs: int) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        return uvloop.run(_measure(Path(folder), runs))


async def _measure(folder: Path, runs: int) -> list[Figure]:
    async with Engine(f"sqlite:///{folder}/graph.db", definitions=[work]) as engine:
        await _seconds(engine, CHAIN)
        return [
            Figure("tokens/s through a chain of 10 nodes", await _rate(engine, runs), Limit("at least", 10_000)),
            Figure("ms a hop, one run at a time", await _hop(engine, runs // 10), Limit("at most", 1)),
            Figure("s for a fan-out of 1,000 into a join", await _best(engine, FAN), Limit("at most", 0.2)),
        ]


async def _rate(engine: Engine, runs: int) -> float:
    places = asyncio.Semaphore(AT_ONCE)

    async def one(number: int) -> None:
        async with places:
            run = await engine.start(CHAIN, {"n": number})
            await run.result()

    started = time.perf_counter()
    await asyncio.gather(*map(one, range(runs)))
    return runs * NODES / (time.perf_counter() - started)


async def _hop(engine: Engine, runs: int) -> float:
    seconds = [await _seconds(engine, CHAIN) for _ in range(max(10, runs))]
    return statistics.median(seconds) * 1000 / NODES


async def _best(engine: Engine, definition: Any) -> float:
    return min([await _seconds(engine, definition) for _ in range(3)])


async def _seconds(engine: Engine, definition: Any) -> float:
    started = time.perf_counter()
    run = await engine.start(definition, {"n": 1})
    await run.result()
    return time.perf_counter() - started
