"""Real engine processes under load, really killed: nothing acknowledged is lost, every answer is right."""

import asyncio
from pathlib import Path

import pytest

from plait import Engine, Handle
from plait.testing import history

from .evidence import assert_every_step_ran_under_one_key
from .serving import Serving, serving
from .work import DEFINITIONS, entries, summing

RUNS = 300
KILLS = 4
MANY = 40


async def start_runs(client: Engine, count: int = RUNS) -> list[Handle[int]]:
    return await asyncio.gather(*(client.start(summing, number, id=f"sum-{number}") for number in range(count)))


async def kill_under_load(engine: Serving, steps: int, handles: list[Handle[int]]) -> None:
    """Once it has begun that many steps, or all that there is to do is done."""
    begun = asyncio.ensure_future(asyncio.to_thread(engine.begins, steps))
    over = asyncio.ensure_future(asyncio.gather(*(handle.result() for handle in handles)))
    await asyncio.wait([begun, over], return_when=asyncio.FIRST_COMPLETED)
    engine.kill()
    over.cancel()
    await asyncio.gather(begun, over, return_exceptions=True)


@pytest.mark.chance(again=True)
async def test_killed_again_and_again_under_load_nothing_is_lost(database: str, ledger: Path):
    async with Engine(database, definitions=DEFINITIONS, work=False) as client:
        handles = await start_runs(client)
        for _ in range(KILLS):
            with serving(database, ledger, ready=False, freeze_after=RUNS) as engine:
                await kill_under_load(engine, RUNS, handles)
        with serving(database, ledger):
            outputs = await asyncio.gather(*(handle.result() for handle in handles))
            assert outputs == [number + 5 for number in range(RUNS)]
        for handle in handles:
            (await history(handle)).assert_recorded_once()
    assert_every_step_ran_under_one_key(ledger, RUNS)
    assert len({entry.pid for entry in entries(ledger)}) > 1


@pytest.mark.chance(again=True)
async def test_a_process_killed_while_it_starts_runs_itself_loses_none_that_it_acknowledged(
    database: str, ledger: Path
):
    """The client is another process, whose starts go on while engines come and go."""
    acknowledged: list[Handle[int]] = []
    async with Engine(database, definitions=DEFINITIONS, work=False) as client:

        async def keep_starting() -> None:
            for number in range(MANY):
                acknowledged.append(await client.start(summing, number, id=f"sum-{number}"))

        starting = asyncio.ensure_future(keep_starting())
        for _ in range(KILLS):
            with serving(database, ledger) as engine:
                await kill_under_load(engine, MANY // 2, acknowledged)
        await starting
        with serving(database, ledger):
            assert [await handle.result() for handle in acknowledged] == [number + 5 for number in range(MANY)]
    assert_every_step_ran_under_one_key(ledger, MANY)


async def test_of_two_engines_on_postgres_the_survivor_takes_over(postgres_url: str, ledger: Path):
    async with Engine(postgres_url, definitions=DEFINITIONS, work=False) as client:
        with serving(postgres_url, ledger, lease=6) as first, serving(postgres_url, ledger, lease=6) as second:
            while len(await client.kernel.store.owners()) < 2:  # noqa: ASYNC110
                await asyncio.sleep(0.01)  # the first gives some of its shards up
            handles = await start_runs(client)
            await asyncio.to_thread(first.begins, MANY)
            first.kill()
            assert await asyncio.gather(*(handle.result() for handle in handles)) == list(range(5, RUNS + 5))
            assert {entry.pid for entry in entries(ledger)} <= {first.pid, second.pid}
    assert_every_step_ran_under_one_key(ledger, RUNS)


async def test_engines_on_postgres_share_the_runs(postgres_url: str, ledger: Path):
    async with Engine(postgres_url, definitions=DEFINITIONS, work=False) as client:
        with serving(postgres_url, ledger, lease=1.5) as first, serving(postgres_url, ledger, lease=1.5) as second:
            started = 0
            while {entry.pid for entry in entries(ledger)} != {first.pid, second.pid}:  # until both have had work
                handles = [await client.start(summing, n, id=f"sum-{started + n}") for n in range(MANY)]
                started += MANY
                assert await asyncio.gather(*(handle.result() for handle in handles)) == list(range(5, MANY + 5))
    assert_every_step_ran_under_one_key(ledger, started)


async def test_a_second_engine_on_a_sqlite_file_waits_and_takes_over_when_the_first_dies(tmp_path: Path, ledger: Path):
    database = f"sqlite:///{tmp_path / 'plait.db'}"
    async with Engine(database, definitions=DEFINITIONS, work=False) as client:
        with serving(database, ledger, lease=1.0) as first:
            handles = await start_runs(client, MANY)
            await asyncio.to_thread(first.begins, 1)
            with serving(database, ledger, lease=1.0) as second:
                await asyncio.to_thread(first.begins, MANY)
                assert {entry.pid for entry in entries(ledger)} == {first.pid}
                first.kill()
                more = [await client.start(summing, n, id=f"sum-{n}") for n in range(MANY, 2 * MANY)]
                outputs = await asyncio.gather(*(handle.result() for handle in [*handles, *more]))
                assert outputs == list(range(5, 2 * MANY + 5))
                assert {entry.pid for entry in entries(ledger)} == {first.pid, second.pid}
    assert_every_step_ran_under_one_key(ledger, 2 * MANY)
