"""Commits whose connection is cut, whose answers are lost or late: each event is recorded once all the same."""

import asyncio
from collections import defaultdict

import pytest

from plait import Context, Engine, step_info, workflow
from plait.testing import history
from tests.support import effort

from .postgres_proxy import FAULTS, failing

COMMITS = 500 if effort.is_long() else 24
RUNS = 20
"""At a time."""


@pytest.mark.chance
@pytest.mark.timeout(1800 if effort.is_long() else 120)
async def test_commits_that_are_cut_off_append_nothing_twice(postgres_url: str):
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
        started = 0
        while proxy.faults.total() < COMMITS:
            handles = [await client.start(counting, n, id=f"run-{started + n}") for n in range(RUNS)]
            started += RUNS
            assert await asyncio.gather(*(handle.result() for handle in handles)) == [4 * n for n in range(RUNS)]
            for handle in handles:
                (await history(handle)).assert_recorded_once()
        assert set(proxy.faults) == set(FAULTS)
        assert engine.kernel.loop.alive
    assert len(ledger) == 4 * started
    assert all(len(set(keys)) == 1 for keys in ledger.values())  # a step may run again, under its key
