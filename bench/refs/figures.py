"""Workflows of steps on one SQLite file: chains beside the same chains as code, one code step, and a wide `forEach`."""

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
from plait import Context, Engine, refs, step, workflow

STEPS, ITEMS = 10, 1_000
AT_ONCE = 200


@step(name="work")
async def work(n: Any) -> Any:
    return {"n": n}


async def plain(n: Any) -> Any:
    return {"n": n}


@workflow
async def as_code(ctx: Context, n: int) -> Any:
    """What the chain is measured against: the same steps, on the same kernel."""
    found: Any = n
    for number in range(STEPS):
        found = (await ctx.step(f"s{number}", plain, found))["n"]
    return found


def _chain() -> list[dict[str, Any]]:
    reads = ["@input.n", *(f"@s{number}.n" for number in range(STEPS - 1))]
    return [
        {"name": f"s{number}", "action": {"function": "work"}, "input": {"n": reads[number]}} for number in range(STEPS)
    ]


CHAIN = refs({"id": "chain", "steps": _chain()})
WIDE = refs(
    {
        "id": "wide",
        "steps": [
            {
                "name": "each",
                "action": {"function": "work"},
                "forEach": {"ref": "@input.items", "concurrency": 50},
                "input": {"n": "@item"},
            }
        ],
    }
)


def measure(runs: int) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        return uvloop.run(_measure(Path(folder), runs))


async def _measure(folder: Path, runs: int) -> list[Figure]:
    async with Engine(f"sqlite:///{folder}/refs.db", definitions=[work, as_code]) as engine:
        await (await engine.start(CHAIN, {"n": 1})).result()
        await (await engine.start(as_code, 1)).result()
        code, chain = await _rate(engine, as_code, 1, runs), await _rate(engine, CHAIN, {"n": 1}, runs)
        return [
            Figure("% of the same chain as code", 100 * chain / code, Limit("at least", 40)),
            Figure("ms of a code step, warm (p50)", await _code_step(engine), Limit("at most", 1)),
            Figure("s for 1,000 items, 50 at a time", await _wide(engine), Limit("at most", 0.5)),
        ]


async def _rate(engine: Engine, definition: Any, input: Any, runs: int) -> float:
    """Runs a second, many at once."""
    places = asyncio.Semaphore(AT_ONCE)

    async def one() -> None:
        async with places:
            await (await engine.start(definition, input)).result()

    began = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(runs)))
    return runs / (time.perf_counter() - began)


async def _code_step(engine: Engine) -> float:
    """The script alone, as its executor calls it."""
    from msgspec import Raw

    languages, taken = engine.executors.languages, list[float]()
    for _ in range(200):
        began = time.perf_counter()
        await languages.call("javascript", "export default (x) => ({n: x.n + 1})", ("input",), Raw(b'{"n":1}'), "")
        taken.append(time.perf_counter() - began)
    return 1000 * statistics.median(taken[50:])


async def _wide(engine: Engine) -> float:
    """The best of five."""
    taken: list[float] = []
    for _ in range(5):
        began = time.perf_counter()
        await (await engine.start(WIDE, {"items": list(range(ITEMS))})).result()
        taken.append(time.perf_counter() - began)
    return min(taken)
