"""An engine takes up the runs of a crash a few shards at a time: who starts beside it finds the rest free."""

import asyncio
from collections.abc import Collection

import pytest

from plait import Context, Engine, step, workflow
from plait.kernel import takeover
from plait.kernel.ids import SHARDS, Shard
from plait.kernel.store import RunFilter, RunRow
from plait.stores.postgres import PostgresStore
from tests.engine.fleets import engine, kill, share, until

RUNS = 128


class Gate:
    """Holds back what comes to it, and counts it."""

    def __init__(self) -> None:
        self.passed = asyncio.Event()
        self.calls = 0


def held_by(gate: Gate):
    @step
    async def wait() -> str:
        gate.calls += 1
        await gate.passed.wait()
        return "done"

    @workflow
    async def held(ctx: Context) -> str:
        return await ctx.step("wait", wait)

    return held


async def leave_runs_behind(url: str, gate: Gate) -> list[str]:
    """Runs in their first step, whose engine is gone."""
    held = held_by(gate)
    first = engine(url, held)
    await first.__aenter__()
    handles = [await first.start(held) for _ in range(RUNS)]

    async def all_wait() -> bool:
        return gate.calls == RUNS

    await until(all_wait)
    await kill(first)
    return [handle.id for handle in handles]


async def recoveries(on: Engine) -> list[int]:
    return [row.recoveries for row in await on.kernel.store.runs(RunFilter(limit=RUNS))]


async def test_an_engine_that_comes_while_another_takes_up_runs_has_its_share_at_once(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
):
    gate = Gate()
    ids = await leave_runs_behind(postgres_url, gate)
    held = held_by(gate)
    early, late = engine(postgres_url, held), engine(postgres_url, held)
    recovering, asked = PostgresStore.recovering, list[int]()

    async def others_come_first(store: PostgresStore, shards: Collection[Shard]) -> list[RunRow]:
        asked.append(len(shards))
        if len(asked) == 1:
            await late.__aenter__()
        return await recovering(store, shards)

    monkeypatch.setattr(PostgresStore, "recovering", others_come_first)
    try:
        await early.__aenter__()
        await share(early, late)
        assert sum(asked) == SHARDS  # nobody took up a shard that another had taken up
        assert await recoveries(early) == [1] * RUNS
        assert gate.calls == 2 * RUNS
        gate.passed.set()
        for id in ids:
            assert await (await early.get(id)).result() == "done"
    finally:
        await late.__aexit__(None, None, None)
        await early.__aexit__(None, None, None)


async def test_runs_of_a_large_heap_are_all_taken_up(postgres_url: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(takeover, "_AWAITED", 2)
    gate = Gate()
    ids = await leave_runs_behind(postgres_url, gate)
    gate.passed.set()
    async with engine(postgres_url, held_by(gate)) as second:
        for id in ids:
            assert await (await second.get(id)).result() == "done"
        assert await recoveries(second) == [0] * RUNS
