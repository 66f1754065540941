"""An engine that is frozen for longer than its leases last: another takes over, and it writes nothing once it wakes."""

import asyncio
import os
import signal
import time
from datetime import UTC, datetime
from pathlib import Path

import asyncpg
import pytest

from plait import Engine, Handle
from plait.kernel.ids import SHARDS
from tests.support import effort
from tests.support.figures import Figures

from .evidence import Blow, assert_every_step_ran_under_one_key, recorded_twice, repeated, runs_resumed_after
from .serving import Serving, serving
from .work import DEFINITIONS, entries, summing

FREEZES = 200 if effort.is_long() else 2
LEASE = 1.0
SOON = 2.0
"""Seconds more than a lease. Not a limit of the short form: it runs beside other tests."""
RUNS = 60
"""Under way at a time."""

NOTE_WRITERS = """
create table public.writes (
    run bigint, engine text default current_setting('trial.engine', true), at timestamptz default clock_timestamp()
);
create function public.note_write() returns trigger language plpgsql as
$$ begin insert into public.writes (run) values (new.run); return null; end $$;
create trigger note_write after insert on plait.log for each row execute function public.note_write();
"""
"""Which engine wrote which event, and when."""
WRITTEN_SINCE = "select count(*) from public.writes where at > $1 and engine = $2"
NAME = "zombie"


async def owners(client: Engine) -> dict[int, int]:
    """Shards by process: an owner's name has it."""
    return {int(owner.name.split("-")[-2]): owner.shards for owner in await client.kernel.store.owners()}


async def until_owned(client: Engine, pids: set[int]) -> None:
    """Until these and no others share all shards."""
    while set(found := await owners(client)) != pids or sum(found.values()) < SHARDS:  # noqa: ASYNC110
        await asyncio.sleep(0.02)


class Zombie:
    """An engine that is frozen again and again."""

    def __init__(self, engine: Serving, database: "asyncpg.Connection[asyncpg.Record]") -> None:
        self.engine = engine
        self.blows: list[Blow] = []
        self.writes = 0
        """After another had its shards, until it had noticed and had shards again."""
        self._database = database

    async def freeze(self, client: Engine, other: Serving, handles: list[Handle[int]]) -> list[int]:
        """In the middle of runs; gives what they return, with nobody but the other to do them."""
        await asyncio.to_thread(self.engine.begins, 5)
        self.blows.append(Blow(self.engine.pid, time.monotonic_ns()))
        os.kill(self.engine.pid, signal.SIGSTOP)
        await until_owned(client, {other.pid})
        taken_over = await self._database.fetchval("select clock_timestamp()")
        outputs = await asyncio.gather(*(handle.result() for handle in handles))
        os.kill(self.engine.pid, signal.SIGCONT)
        await asyncio.to_thread(self.engine.hears, "lost")
        await until_owned(client, {self.engine.pid, other.pid})
        self.writes += await self._database.fetchval(WRITTEN_SINCE, taken_over, NAME)
        return outputs


@pytest.mark.timeout(3600 if effort.is_long() else 180)
@pytest.mark.chance
@pytest.mark.trial
async def test_an_engine_frozen_for_longer_than_its_lease_writes_nothing(
    postgres_url: str, ledger: Path, figures: Figures
):
    async with Engine(postgres_url, definitions=DEFINITIONS, work=False) as client:
        database = await asyncpg.connect(postgres_url)
        await database.execute(NOTE_WRITERS)
        with serving(f"{postgres_url}?trial.engine={NAME}", ledger, lease=LEASE) as engine:
            handles = [await client.start(summing, 0, id="sum-0")]
            await handles[0].result()
            assert await database.fetchval(WRITTEN_SINCE, datetime.min.replace(tzinfo=UTC), NAME) > 0
            zombie = Zombie(engine, database)
            with serving(postgres_url, ledger, lease=LEASE) as other:
                for freeze in range(FREEZES):
                    await until_owned(client, {engine.pid, other.pid})
                    numbers = range(1 + freeze * RUNS, 1 + (freeze + 1) * RUNS)
                    started = [await client.start(summing, number, id=f"sum-{number}") for number in numbers]
                    assert await zombie.freeze(client, other, started) == [number + 5 for number in numbers]
                    handles += started
        await database.close()
        figures.note("runs", len(handles))
        figures.note("freezes", len(zombie.blows))
        figures.note("effects", len(entries(ledger)))
        figures.note("effects again, same key", repeated(ledger))
        figures.none("writes by a zombie", zombie.writes)
        figures.none("runs recorded wrongly", await recorded_twice(handles))
    assert_every_step_ran_under_one_key(ledger, 1 + FREEZES * RUNS)
    soon = LEASE + SOON if effort.is_long() else None
    figures.spread("run resumed", runs_resumed_after(entries(ledger), zombie.blows), soon)
