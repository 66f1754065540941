"""PostgreSQL is killed under a running engine and comes back: runs wait, and go on."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from plait import Context, Engine, Handle, step_info, workflow
from plait.errors import Unavailable
from plait.testing import history
from tests.support import effort
from tests.support.postgres import PostgresServer

from .starting import start_surely

RUNS = 100
RESTARTS = 20 if effort.is_long() else 2
FEW = 40


@contextmanager
def logged(text: str) -> Iterator[asyncio.Event]:
    event = asyncio.Event()
    loop = asyncio.get_running_loop()

    class Notice(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if text in record.getMessage():
                loop.call_soon_threadsafe(event.set)

    logger, notice = logging.getLogger("plait.kernel"), Notice()
    logger.addHandler(notice)
    try:
        yield event
    finally:
        logger.removeHandler(notice)


async def test_a_database_that_is_killed_and_comes_back(own_postgres: PostgresServer):
    ran: list[int] = []
    half = asyncio.Event()

    @workflow
    async def counting(ctx: Context, number: int) -> int:
        async def count() -> int:
            ran.append(number)
            if len(ran) == RUNS:
                half.set()
            return number

        first = await ctx.step("first", count)
        await ctx.sleep("nap", 0.05)
        return first + await ctx.step("second", count)

    url = own_postgres.create_database()
    async with Engine(url, definitions=[counting], lease_ttl=3) as engine:
        handles = [await engine.start(counting, number) for number in range(RUNS)]
        await half.wait()
        with logged("try again") as tried:
            own_postgres.kill()
            await tried.wait()
        own_postgres.restart()
        assert await asyncio.gather(*(handle.result() for handle in handles)) == [2 * n for n in range(RUNS)]
        for handle in handles:
            (await history(handle)).assert_recorded_once()
        assert await (await engine.start(counting, 7)).result() == 14


@pytest.mark.chance
@pytest.mark.timeout(1800 if effort.is_long() else 120)
async def test_a_fleet_survives_a_database_that_is_restarted_at_once_again_and_again(own_postgres: PostgresServer):
    ledger: dict[str, set[str]] = defaultdict(set)
    begun = asyncio.Event()

    @workflow
    async def counting(ctx: Context, number: int) -> int:
        async def count() -> int:
            info = step_info()
            ledger[f"{info.run_id}/{info.path}"].add(info.idempotency_key)
            begun.set()
            return number

        first = await ctx.step("first", count)
        await ctx.sleep("nap", 0.05)
        return first + await ctx.step("second", count)

    url = own_postgres.create_database()
    async with (
        Engine(url, definitions=[counting], lease_ttl=3) as one,
        Engine(url, definitions=[counting], lease_ttl=3),
    ):
        handles: list[Handle[int]] = []
        for time in range(RESTARTS):
            begun.clear()
            handles += [await start_surely(one, counting, n, f"run-{time}-{n}") for n in range(FEW)]
            await begun.wait()
            await asyncio.to_thread(own_postgres.kill)
            await asyncio.to_thread(own_postgres.restart)
        outputs = await asyncio.gather(*(handle.result() for handle in handles))
        assert outputs == [2 * n for _ in range(RESTARTS) for n in range(FEW)]
        for handle in handles:
            (await history(handle)).assert_recorded_once()
    assert len(ledger) == 2 * len(handles)
    assert all(len(keys) == 1 for keys in ledger.values())


async def test_a_database_that_is_not_there_at_the_start_is_said_to_be_away(own_postgres: PostgresServer):
    url = own_postgres.create_database()
    own_postgres.kill()
    with pytest.raises(Unavailable):
        async with Engine(url):
            pass
    own_postgres.restart()
    async with Engine(url) as engine:
        assert await engine.runs() == []
