"""Runs of AFL on one SQLite file: a wide block, a chain and a foreach, in steps a second beside the kernel's W1."""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path
from typing import Any

import uvloop

from bench.targets import Limit
from plait import Context, Engine, afl, workflow

from .figure import Figure

WIDE, CHAIN, ITEMS = 1_000, 200, 1_000
W1_RUNS, W1_STEPS = 200, 10

_FACETS = "event facet Work(n: Long) => (n: Long)"


def wide(count: int) -> str:
    steps = " ".join(f"s{number} = Work(n = {number})" for number in range(count))
    return f"namespace b {{ {_FACETS} workflow W() andThen {{ {steps} }} }}"


def chain(count: int) -> str:
    steps = " ".join(f"s{number} = Work(n = s{number - 1}.n)" for number in range(1, count))
    return f"namespace b {{ {_FACETS} workflow W() andThen {{ s0 = Work(n = 0) {steps} }} }}"


def each() -> str:
    return f"namespace b {{ {_FACETS} workflow W(items: [Long]) andThen foreach i in $.items {{ s = Work(n = i) }} }}"


async def _plain(n: int) -> int:
    return n


@workflow
async def ten(ctx: Context, n: int) -> int:
    """W1: ten steps, one after the other."""
    for number in range(W1_STEPS):
        await ctx.step(f"s{number}", _plain, n)
    return n


@workflow
async def long(ctx: Context, n: int) -> int:
    """As many steps in a row as the chain has: what one after the other costs, where a step takes one commit and not
    the two iterations that AFL makes of it."""
    for number in range(CHAIN):
        await ctx.step(f"s{number}", _plain, n)
    return n


def measure() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        return uvloop.run(_measure(Path(folder)))


async def _measure(folder: Path) -> list[Figure]:
    async with Engine(f"sqlite:///{folder}/afl.db", definitions=[ten, long]) as engine:

        async def work(payload: dict[str, Any]) -> dict[str, Any]:
            return {"n": payload["n"]}

        engine.afl.handler("Work", work)
        w1 = await _w1(engine)
        small, large = await _rate(engine, wide(WIDE), WIDE), await _rate(engine, wide(2 * WIDE), 2 * WIDE)
        items = [*range(ITEMS)]
        short, longer = await _rate(engine, chain(CHAIN), CHAIN), await _rate(engine, chain(4 * CHAIN), 4 * CHAIN)
        row = await _best(engine, long, CHAIN, 1)
        figures = {
            f"steps/s of {CHAIN} in a row, as code": row,
            f"steps/s of a block of {WIDE:,}": small,
            f"steps/s of a chain of {CHAIN}": short,
            f"steps/s of a foreach over {ITEMS:,}": await _rate(engine, each(), ITEMS, {"items": items}),
        }
        found = [Figure("steps/s of W1, as code", w1, Limit("at least", 0))]
        found += [Figure(name, value, Limit("at least", 0)) for name, value in figures.items()]
        found += [
            Figure("cost of a step, of 2,000 beside 1,000", small / large, Limit("at most", 1.5)),
            Figure(f"cost of a step, of a chain of {4 * CHAIN} beside {CHAIN}", short / longer, Limit("at most", 1.5)),
            Figure("cost of a step of a chain, beside code", row / short, Limit("at most", 4.0)),
        ]
        return found


async def _w1(engine: Engine) -> float:
    async def one() -> None:
        await (await engine.start(ten, 1)).result()

    await one()
    began = time.process_time()
    await asyncio.gather(*(one() for _ in range(W1_RUNS)))
    return W1_RUNS * W1_STEPS / (time.process_time() - began)


async def _rate(engine: Engine, source: str, steps: int, input: Any = None) -> float:
    return await _best(engine, afl(source, "b.W"), steps, input or {})


async def _best(engine: Engine, definition: Any, steps: int, input: Any) -> float:
    """Steps for each second of the processor, the best of three."""
    await (await engine.start(definition, input)).result()
    taken: list[float] = []
    for _ in range(3):
        began = time.process_time()
        await (await engine.start(definition, input)).result()
        taken.append(time.process_time() - began)
    return steps / min(taken)
