"""Commits whose connection is cut, whose answers are lost or late: each event is recorded once all the same."""

import asyncio
from collections import defaultdict

import pytest

from plait import Context, Engine, Handle, step_info, workflow
from tests.support import effort
from tests.support.figures import Figures

from .evidence import recorded_twice
from .postgres_proxy import FAULTS, failing

COMMITS = 500 if effort.is_long() else 24
RUNS = 20
"""At a time."""


@pytest.mark.timeout(1800 if effort.is_long() else 120)
@pytest.mark.chance
@pytest.mark.trial
async def test_commits_that_are_cut_off_append_nothing_twice(postgres_url: str, figures: Figures):
    ledger: dict[str, list[str]] = defaultdict(list)

    async def note(number: int) -> int:
        info = step_info()
        ledger[f"{info.run_id}/{info.path}"].append(info.idempotency_key)
        return number

    @workflow
    async def counting(ctx: Context, number: int) -> int:
        total = 0
        for place in range(4):
            total += await ctx.step(f"step-{place}", note, number)
        return total

    async with (
        failing(postgres_url, seed=7, most=COMMITS) as proxy,
        Engine(proxy.url, definitions=[counting]) as engine,
        Engine(postgres_url, definitions=[counting], work=False) as client,
    ):
        handles: list[Handle[int]] = []
        while proxy.faults.total() < COMMITS:
            started = [await client.start(counting, n, id=f"run-{len(handles) + n}") for n in range(RUNS)]
            assert await asyncio.gather(*(handle.result() for handle in started)) == [4 * n for n in range(RUNS)]
            handles += started
        assert set(proxy.faults) == set(FAULTS)
        assert engine.kernel.loop.alive
        figures.note("runs", len(handles))
        figures.note("commits cut", proxy.faults["cut"])
        figures.note("commits stalled", proxy.faults["stall"])
        figures.note("commits whose answer was dropped", proxy.faults["drop"])
        figures.note("effects", sum(map(len, ledger.values())))
        figures.note("effects again, same key", sum(map(len, ledger.values())) - len(ledger))
        figures.none("runs with a double append", await recorded_twice(handles))
    assert len(ledger) == 4 * len(handles)
    assert all(len(set(keys)) == 1 for keys in ledger.values())  # a step may run again, under its key
