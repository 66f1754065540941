"""Engines of a fleet that are killed, or frozen for longer than their leases last: the others take over, and nobody
writes who has no right to."""

import asyncio
import os
import random
import signal
from contextlib import ExitStack
from pathlib import Path

import asyncpg
import pytest

from plait import Engine, Handle
from plait.kernel.ids import SHARDS
from plait.testing import history
from tests.support import effort

from .serving import Serving, serving
from .test_kill import assert_every_step_ran_under_one_key, start_runs
from .work import DEFINITIONS, entries, summing

ENGINES = 3
RUNS = 10_000 if effort.is_long() else 250
KILLS = 200 if effort.is_long() else 4
FREEZES = 200 if effort.is_long() else 2
LEASE = 1.0
FROZEN_RUNS = 60
_LONG = pytest.mark.timeout(3600 if effort.is_long() else 180)

NOTE_WRITERS = """
create table public.writes (
    run bigint, backend integer default pg_backend_pid(), at timestamptz default clock_timestamp()
);
create function public.note_write() returns trigger language plpgsql as
$$ begin insert into public.writes (run) values (new.run); return null; end $$;
create trigger note_write after insert on plait.log for each row execute function public.note_write();
"""
"""Which connection wrote which event, and when."""


async def owners(client: Engine) -> dict[int, int]:
    """Shards by process: an owner's name has it."""
    return {int(owner.name.split("-")[-2]): owner.shards for owner in await client.kernel.store.owners()}


async def until_owned(client: Engine, pids: set[int]) -> None:
    """Until these and no others share all shards."""
    while set(found := await owners(client)) != pids or sum(found.values()) < SHARDS:  # noqa: ASYNC110
        await asyncio.sleep(0.02)


@_LONG
@pytest.mark.chance
async def test_engines_killed_at_random_lose_nothing(postgres_url: str, ledger: Path):
    chosen = random.Random(16)
    async with Engine(postgres_url, definitions=DEFINITIONS, work=False) as client:
        with ExitStack() as stack:
            fleet = [stack.enter_context(serving(postgres_url, ledger, lease=LEASE)) for _ in range(ENGINES)]
            handles = await start_runs(client, RUNS)
            over = asyncio.ensure_future(asyncio.gather(*(handle.result() for handle in handles)))
            for _ in range(KILLS):
                victim = fleet.pop(chosen.randrange(ENGINES))
                await until_begun(victim, chosen.randint(5, 60), over)
                victim.kill()
                fleet.append(stack.enter_context(serving(postgres_url, ledger, lease=LEASE)))
            assert await over == [number + 5 for number in range(RUNS)]
        for handle in handles:
            (await history(handle)).assert_recorded_once()
    assert_every_step_ran_under_one_key(ledger, RUNS)
    assert len({entry.pid for entry in entries(ledger)}) > 1


async def until_begun(engine: Serving, steps: int, over: "asyncio.Future[list[int]]") -> None:
    """Or there is nothing left to do."""
    begun = asyncio.ensure_future(asyncio.to_thread(engine.begins, steps))
    await asyncio.wait([begun, over], return_when=asyncio.FIRST_COMPLETED)
    if not begun.done():
        engine.kill()  # ends the wait for its output
        await asyncio.gather(begun, return_exceptions=True)


@_LONG
@pytest.mark.chance
async def test_an_engine_that_was_frozen_for_longer_than_its_lease_writes_nothing(postgres_url: str, ledger: Path):
    async with Engine(postgres_url, definitions=DEFINITIONS, work=False) as client:
        database = await asyncpg.connect(postgres_url)
        with serving(postgres_url, ledger, lease=LEASE) as zombie:
            await database.execute(NOTE_WRITERS)
            await (await client.start(summing, 0, id="sum-0")).result()
            [backend] = [row[0] for row in await database.fetch("select distinct backend from public.writes")]
            with serving(postgres_url, ledger, lease=LEASE) as other:
                for time in range(FREEZES):
                    await until_owned(client, {zombie.pid, other.pid})
                    handles = [await _start(client, 1 + time * FROZEN_RUNS + n) for n in range(FROZEN_RUNS)]
                    await asyncio.to_thread(zombie.begins, 5)
                    os.kill(zombie.pid, signal.SIGSTOP)
                    await until_owned(client, {other.pid})
                    taken_over = await database.fetchval("select clock_timestamp()")
                    outputs = await asyncio.gather(*(handle.result() for handle in handles))
                    assert outputs == [6 + time * FROZEN_RUNS + n for n in range(FROZEN_RUNS)]
                    os.kill(zombie.pid, signal.SIGCONT)
                    await asyncio.to_thread(zombie.hears, "lost")
                    await until_owned(client, {zombie.pid, other.pid})
                    written = "select distinct backend from public.writes where at > $1"
                    writers = {row[0] for row in await database.fetch(written, taken_over)}
                    assert len(writers) <= 1  # the other's
                    assert backend not in writers
                    for handle in handles:
                        (await history(handle)).assert_recorded_once()
        await database.close()
    assert_every_step_ran_under_one_key(ledger, 1 + FREEZES * FROZEN_RUNS)


async def _start(client: Engine, number: int) -> Handle[int]:
    return await client.start(summing, number, id=f"sum-{number}")
