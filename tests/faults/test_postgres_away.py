"""PostgreSQL is killed under a running engine and comes back: runs wait, and go on."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from plait import Context, Engine, workflow
from plait.errors import Unavailable
from plait.testing import history
from tests.support import effort
from tests.support.figures import Figures
from tests.support.postgres import PostgresServer

from .counting import Ledger, counting
from .evidence import recorded_twice
from .starting import Load

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


@pytest.mark.timeout(1800 if effort.is_long() else 180)
@pytest.mark.chance
@pytest.mark.trial
async def test_a_database_that_is_restarted_at_once_again_and_again(own_postgres: PostgresServer, figures: Figures):
    ledger = Ledger()
    doubling = counting(ledger)
    url = own_postgres.create_database()
    async with (
        Engine(url, definitions=[doubling], lease_ttl=3) as one,
        Engine(url, definitions=[doubling], lease_ttl=3),
    ):
        load = Load(one, doubling)
        loading = asyncio.ensure_future(load.run())
        for _ in range(RESTARTS):
            await load.until_started(FEW)
            await asyncio.to_thread(own_postgres.kill)
            await asyncio.to_thread(own_postgres.restart)
        await load.until_started(FEW)
        load.stop()
        await loading
        assert load.outputs == {number: 2 * number for number in load.outputs}
        wrong = await recorded_twice(load.acknowledged.values())
    done = {f"run-{number}/{step}" for number in load.outputs for step in ("first", "second")}
    assert done <= ledger.steps
    figures.note("restarts", RESTARTS)
    figures.note("runs", len(load.acknowledged))
    figures.note("effects", ledger.effects)
    figures.note("effects again, same key", ledger.repeated)
    figures.note("tries refused meanwhile", load.refused)
    figures.at_least("operations that succeed", load.succeeded, 99, "%")
    figures.none("acknowledged runs lost", len(load.acknowledged) - len(load.outputs))
    figures.none("runs recorded wrongly", wrong)


async def test_a_database_that_is_not_there_at_the_start_is_said_to_be_away(own_postgres: PostgresServer):
    url = own_postgres.create_database()
    own_postgres.kill()
    with pytest.raises(Unavailable):
        async with Engine(url):
            pass
    own_postgres.restart()
    async with Engine(url) as engine:
        assert await engine.runs() == []
