"""A fork is possible at each event, and ends as its source did if nothing is changed in it."""

from contextlib import asynccontextmanager
from typing import Any

import pytest

from examples.order import afl as order_in_afl
from examples.order import refs as order_in_refs
from plait import Engine

GIVEN = {"items": [{"sku": "tea", "price": 450}], "country": "DE", "flaky_bank": 0}


@asynccontextmanager
async def refs_engine():
    functions = [order_in_refs.reserve, order_in_refs.release, order_in_refs.tax, order_in_refs.charge]
    async with Engine("memory:", definitions=[order_in_refs.order, *functions, order_in_refs.ship]) as engine:
        yield engine


@asynccontextmanager
async def afl_engine():
    async with Engine("memory:") as engine:
        for name, handler in order_in_afl.HANDLERS.items():
            engine.afl.handler(name, handler)
        yield engine


@pytest.mark.costly
@pytest.mark.parametrize(
    ("opened", "order"),
    [
        pytest.param(refs_engine, order_in_refs.order, id="refs"),
        pytest.param(afl_engine, order_in_afl.order, id="afl"),
    ],
)
async def test_a_fork_at_any_event_ends_as_its_source_did(opened: Any, order: Any):
    async with opened() as engine:
        run = await engine.start(order, GIVEN)
        output = await run.result()
        for at in [None, *(event.seq for event in (await run.events())[:-1])]:
            fork = await run.fork(at, id=f"fork-{at}")
            assert await fork.result() == output, at
