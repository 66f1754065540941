"""The server dies and its synchronous standby takes over: nothing acknowledged is lost, and no engine is restarted."""

import asyncio

import pytest

from plait import Context, Engine, workflow
from plait.testing import history
from tests.support import effort
from tests.support.postgres import PostgresServer

from .starting import start_surely

TIMES = 5 if effort.is_long() else 1
RUNS = 60


@workflow
async def counting(ctx: Context, number: int) -> int:
    first = await ctx.step("first", lambda: number, returns=int)
    await ctx.sleep("nap", 0.05)
    return first + await ctx.step("second", lambda: number, returns=int)


@pytest.mark.chance
@pytest.mark.parametrize("time", range(TIMES))
async def test_a_promoted_standby_has_all_that_was_acknowledged(own_postgres: PostgresServer, time: int):
    own = own_postgres.create_database()
    with own_postgres.standby() as standby:
        url = own.replace(own_postgres.address, f"{own_postgres.address},{standby.address}")
        async with Engine(f"{url}?target_session_attrs=primary", definitions=[counting], lease_ttl=3) as engine:
            acknowledged = [await start_surely(engine, counting, number, f"run-{number}") for number in range(RUNS)]
            more = [
                asyncio.ensure_future(start_surely(engine, counting, number, f"run-{number}"))
                for number in range(RUNS, 2 * RUNS)
            ]
            await asyncio.wait(more, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.to_thread(own_postgres.kill)
            await asyncio.to_thread(standby.promote)
            handles = [*acknowledged, *(await asyncio.gather(*more))]
            assert await asyncio.gather(*(handle.result() for handle in handles)) == [2 * n for n in range(2 * RUNS)]
            for handle in handles:
                (await history(handle)).assert_recorded_once()
