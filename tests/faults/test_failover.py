"""The server dies and its synchronous standby takes over: nothing acknowledged is lost, and no engine is restarted."""

import asyncio
from collections import Counter

import pytest

from plait import Engine
from tests.support import effort
from tests.support.figures import Figures
from tests.support.postgres import PostgresServer

from .counting import Ledger, counting
from .evidence import recorded_twice
from .starting import Load

TIMES = 5 if effort.is_long() else 1
RUNS = 60
"""Acknowledged before the server dies, and again by the standby."""


async def fail_over(server: PostgresServer, found: Counter[str]) -> None:
    ledger = Ledger()
    doubling = counting(ledger)
    own = server.create_database()
    with server.standby() as standby:
        url = own.replace(server.address, f"{server.address},{standby.address}")
        async with Engine(f"{url}?target_session_attrs=primary", definitions=[doubling], lease_ttl=3) as engine:
            load = Load(engine, doubling)
            loading = asyncio.ensure_future(load.run())
            await load.until_started(RUNS)
            await asyncio.to_thread(server.kill)
            await asyncio.to_thread(standby.promote)
            await load.until_started(RUNS)
            load.stop()
            await loading
            assert load.outputs == {number: 2 * number for number in load.outputs}
            found["recorded wrongly"] += await recorded_twice(load.acknowledged.values())
    done = {f"run-{number}/{step}" for number in load.outputs for step in ("first", "second")}
    assert done <= ledger.steps
    found["runs"] += len(load.acknowledged)
    found["lost"] += len(load.acknowledged) - len(load.outputs)
    found["operations"] += load.operations
    found["failed"] += load.failed
    found["refused"] += load.refused
    found["effects"] += ledger.effects
    found["repeated"] += ledger.repeated


@pytest.mark.timeout(1800 if effort.is_long() else 180)
@pytest.mark.chance
@pytest.mark.trial
async def test_a_promoted_standby_has_all_that_was_acknowledged(figures: Figures):
    found = Counter[str]()
    for _ in range(TIMES):
        with PostgresServer.start() as server:
            await fail_over(server, found)
    figures.note("promotions", TIMES)
    figures.note("runs", found["runs"])
    figures.note("effects", found["effects"])
    figures.note("effects again, same key", found["repeated"])
    figures.note("tries refused meanwhile", found["refused"])
    figures.at_least("operations that succeed", 100 * (1 - found["failed"] / found["operations"]), 99, "%")
    figures.none("acknowledged runs lost", found["lost"])
    figures.none("runs recorded wrongly", found["recorded wrongly"])
