"""Plait is replaced by a newer one, and servers are restarted, while runs go on: none is lost, none is done twice."""

from __future__ import annotations

import asyncio
import itertools
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path

import pytest

from plait import Engine
from plait.kernel.ids import RunId
from plait.testing import history
from tests.server.contract.processes import ServeProcess, client_of, finished, start_surely
from tests.server.contract.processes import serving as serving_http
from tests.stores.looking_in import looking_in

from .schema_13 import acknowledged, make_schema_13, serving_13
from .serving import Serving, serving
from .work import DEFINITIONS, STEPS_OF_SUMMING, entries, keys_by_step

_LONG = pytest.mark.timeout(240)
PAST = """
insert into plait.runs (id, namespace, dialect, definition, shard, status, awake, depth, labels, start_hash, created_at,
                        ended_at)
values ('past', 'default', 'code', 'summing', 1, 'completed', false, 0, '{}', '', 1, 2);
insert into plait.log (run, seq, count, at, events)
select number, seq, 1, seq, '[]' from plait.runs, generate_series(1, 50000) as seq where id = 'past';
"""
SERVERS = 3


def troubles(engine: Serving) -> list[str]:
    return [line for line in engine.said if line.startswith(("WARNING", "ERROR", "CRITICAL", "Traceback"))]


@_LONG
@pytest.mark.chance
async def test_engines_of_the_release_before_work_on_while_the_schema_is_brought_up_and_after(
    postgres_url: str, ledger: Path
):
    await make_schema_13(postgres_url)
    async with looking_in(postgres_url) as db:
        await db.execute(PAST)
    with ExitStack() as stack:
        before = [stack.enter_context(serving_13(postgres_url, ledger)) for _ in range(2)]
        for engine in before:
            await asyncio.to_thread(engine.begins, 30)
        async with Engine(postgres_url, definitions=DEFINITIONS, work=False) as client, looking_in(postgres_url) as db:
            assert await db.fetchval("select relkind = 'p' from pg_class where oid = 'plait.log'::regclass")
            for engine in before:
                await asyncio.to_thread(engine.begins, 30)
            before.append(stack.enter_context(serving_13(postgres_url, ledger)))  # one that starts on the new schema
            await asyncio.to_thread(before[-1].begins, 30)
            new = stack.enter_context(serving(postgres_url, ledger, lease=3.0))
            for engine in before:
                assert await asyncio.to_thread(engine.terminate) == 0
                assert troubles(engine) == []
            started = {run_id: number for engine in before for run_id, number in acknowledged(engine).items()}
            assert len(started) >= 20
            for run_id, number in started.items():
                handle = await client.get(run_id)
                assert await handle.result() == number + 5
                (await history(handle)).assert_recorded_once()
            assert len(await client.kernel.store.log(RunId("past"))) == 50_000
            assert await client.kernel.store.integrity() == []
            assert troubles(new) == []
        paths = keys_by_step(ledger)
        assert set(paths) >= {f"{run_id}/{step}" for run_id in started for step in STEPS_OF_SUMMING}
        assert all(len(keys) == 1 for keys in paths.values())


@_LONG
@pytest.mark.chance
async def test_servers_that_are_restarted_one_by_one_under_load_lose_nothing(postgres_url: str, ledger: Path):
    async with AsyncExitStack() as stack:
        servers = [
            await stack.enter_async_context(serving_http(postgres_url, ledger, "--drain", "2")) for _ in range(SERVERS)
        ]
        numbers, enough = itertools.count(), asyncio.Event()
        loads = [asyncio.create_task(_load(server, numbers, enough)) for server in servers]
        for server in servers:
            before = len(entries(ledger))
            while len(entries(ledger)) < before + 40:  # noqa: ASYNC110 -- other processes write it
                await asyncio.sleep(0.02)
            server.signal()
            assert await server.ended() == 0
            await server.start()
        enough.set()
        runs = len(list(itertools.chain(*await asyncio.gather(*loads))))
        client = await stack.enter_async_context(client_of(servers[0]))
        assert [await finished(client, number) for number in range(runs)] == [number + 5 for number in range(runs)]
        looking = await stack.enter_async_context(Engine(postgres_url, definitions=DEFINITIONS, work=False))
        for number in range(runs):
            (await history(await looking.get(f"sum-{number}"))).assert_recorded_once()
        owners = await looking.kernel.store.owners()
        assert len(owners) == SERVERS
    paths = keys_by_step(ledger)
    assert set(paths) == {f"sum-{number}/{step}" for number in range(runs) for step in STEPS_OF_SUMMING}
    assert all(len(keys) == 1 for keys in paths.values())


async def _load(server: ServeProcess, numbers: itertools.count[int], enough: asyncio.Event) -> list[int]:
    """Starts runs on one server, one after the other, also while it is away."""
    started: list[int] = []
    async with client_of(server) as client:
        while not enough.is_set():
            started.append(next(numbers))
            await start_surely(client, started[-1])
    return started
