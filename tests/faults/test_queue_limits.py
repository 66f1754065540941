"""Limits of queues over several processes, one of which is killed; judged by what steps note outside, and by a trigger
that copies every admission."""

import asyncio
from pathlib import Path

import asyncpg
import pytest

from plait import Engine
from tests.support.effort import tries

from .serving import serving
from .work import DEFINITIONS, entries, occupying, spans

RUNS = tries(130)
SLOTS, RATE = 5, 50
_LEDGER = """
create table admissions (id bigserial primary key, run_id text, at bigint);
create function note_admission() returns trigger language plpgsql as $$
begin
    insert into admissions (run_id, at) values (new.run_id, new.admitted_at);
    return null;
end $$;
create trigger admitted after update of admitted_at on plait.queued_runs
for each row when (old.admitted_at is null and new.admitted_at is not null) execute function note_admission();
"""


def most_at_once(found: list[tuple[int, int]]) -> int:
    """An end at the moment of a begin comes first."""
    moments = sorted([(begin, 1) for begin, _ in found] + [(end, -1) for _, end in found])
    most = now = 0
    for _, step in moments:
        now += step
        most = max(most, now)
    return most


@pytest.mark.chance
async def test_three_processes_pass_no_limit_and_a_killed_one_gives_its_slots_back(postgres_url: str, ledger: Path):
    async with Engine(postgres_url, definitions=DEFINITIONS, work=False) as client:
        database = await asyncpg.connect(postgres_url)
        await database.execute(_LEDGER)
        await client.queues.set("q", concurrency=SLOTS, rate=RATE)
        await client.queues.pause("q")
        await client.queues.set("keys", concurrency=1, partitioned=True)
        handles = [await client.start(occupying, id=f"q-{n:04}", queue="q", priority=-(n % 3)) for n in range(RUNS)]
        keyed = [await client.start(occupying, id=f"k-{n:02}", queue="keys", partition=f"{n % 3}") for n in range(24)]
        with (
            serving(postgres_url, ledger, lease=2.0) as first,
            serving(postgres_url, ledger, lease=2.0),
            serving(postgres_url, ledger, lease=2.0),
        ):
            while len(await client.kernel.store.owners()) < 3:  # noqa: ASYNC110
                await asyncio.sleep(0.01)  # each has some of the shards
            await client.queues.resume("q")
            await asyncio.to_thread(first.begins, 10)
            first.kill()
            await asyncio.gather(*(handle.result() for handle in [*handles, *keyed]))
        admitted = await database.fetch("select run_id, at from admissions order by id")
        await database.close()
    assert len({entry.pid for entry in entries(ledger)}) == 3
    found = spans(ledger)
    assert most_at_once([span for run_id, span in found.items() if run_id.startswith("q-")]) <= SLOTS
    for key in range(3):
        assert most_at_once([span for run_id, span in found.items() if run_id in _of_key(key)]) == 1
    at = {run_id: at for run_id, at in admitted if run_id.startswith("q-")}
    times = sorted(at.values())
    assert len(times) == RUNS
    assert all(later - earlier >= 1_000 for earlier, later in zip(times, times[RATE:], strict=False))
    in_order = sorted(at, key=lambda run_id: (-(int(run_id[2:]) % 3), run_id))
    assert [at[run_id] for run_id in in_order] == times  # those of one transaction have one time


def _of_key(key: int) -> set[str]:
    return {f"k-{n:02}" for n in range(24) if n % 3 == key}
