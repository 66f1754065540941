"""Valkey is away, killed and flushed while runs need it: nothing is lost, nothing counts twice.

It keeps nothing on disk, so each kill loses all that it held: streams, groups, results. A ledger outside of both
holds what the workers did.
"""

import asyncio
import random
from collections import Counter
from typing import Any

import pytest
from redis.exceptions import RedisError

from plait import Engine
from tests.support.effort import tries
from tests.support.valkey import ValkeyServer
from tests.workers.redis.queued import crowd, doubled, shouting
from tests.workers.redis.stream_worker import Delivered, working

RUNS = tries(20)
STEPS = 10
EVERY = 0.7
"""Seconds between two blows."""
MATH, VOICE = "wf.tasks.math", "wf.tasks.voice"


async def test_an_engine_starts_without_redis_and_offers_its_tasks_when_it_is_there(own_valkey: ValkeyServer):
    own_valkey.kill()
    async with Engine("memory:", definitions=[doubled], redis=own_valkey.url) as engine:
        run = await engine.start(doubled, 21)
        [reason] = await run.waiting()
        assert reason.text.startswith("no worker on queue `math`")
        own_valkey.restart()
        async with working(own_valkey.url, MATH) as worker:
            await (await worker.one()).complete(42)
            assert await run.result() == 42


async def test_tasks_that_redis_forgot_are_offered_again_in_the_same_attempt(own_valkey: ValkeyServer):
    async with (
        Engine("memory:", definitions=[doubled], redis=own_valkey.url) as engine,
        working(own_valkey.url, MATH) as worker,
    ):
        run = await engine.start(doubled, 21)
        before = await worker.one()
        own_valkey.empty()
        again = await worker.one()
        assert (again.token["token_id"], again.token["attempt"]) == (before.token["token_id"], 1)
        await before.complete(42)  # whoever is first: it is the same attempt
        assert await run.result() == 42


async def test_tasks_of_a_redis_that_stays_away_go_to_other_workers(own_valkey: ValkeyServer):
    async with Engine("memory:", definitions=[doubled], redis=f"{own_valkey.url}?lease=1") as engine:
        async with working(own_valkey.url, MATH) as worker:
            run = await engine.start(doubled, 21)
            await worker.one()
        own_valkey.kill()
        [task] = await engine.queues.claim("w", ["math"], wait_ms=20_000)
        await engine.queues.complete(task.id, 42)
        assert await run.result() == 42


@pytest.mark.chance
@pytest.mark.timeout(300)
async def test_killed_and_flushed_under_load_every_run_has_its_outcome_once(own_valkey: ValkeyServer, tmp_path: Any):
    ledger: Counter[str] = Counter()
    results: dict[str, set[int]] = {}

    async def do(task: Delivered) -> None:
        n = task.token["payload"]["n"] if isinstance(task.token["payload"], dict) else task.token["payload"][0]
        ledger[task.token["idempotency_key"]] += 1
        results.setdefault(task.token["idempotency_key"], set()).add(n)
        await task.complete(2 * n)

    db, url = f"sqlite:///{tmp_path}/plait.db", f"{own_valkey.url}?lease=3"
    async with (
        Engine(db, definitions=[crowd], redis=url) as engine,
        working(own_valkey.url, MATH) as adder,
        working(own_valkey.url, VOICE) as voice,
    ):
        serving = [asyncio.ensure_future(worker.serve(do)) for worker in (adder, adder, voice)]
        blows = asyncio.ensure_future(_blows(own_valkey))
        crowds = [await engine.start(crowd, STEPS, id=f"crowd-{n}") for n in range(RUNS)]
        graphs = [await engine.start(shouting(), {"n": n}, id=f"graph-{n}") for n in range(RUNS)]
        assert [await run.result() for run in crowds] == [STEPS * (STEPS - 1)] * RUNS
        assert [await run.result() for run in graphs] == [{"A": 2 * n} for n in range(RUNS)]
        for task in (blows, *serving):
            task.cancel()
        await asyncio.gather(blows, *serving, return_exceptions=True)
        assert len(ledger) == RUNS * (STEPS + 1), "each task has one key, and was done"
        assert all(len(found) == 1 for found in results.values())
        for run in graphs:
            events = await run.events()
            assert [event.type for event in events].count("node.consumed") == 1
            assert events[-1].type == "run.completed"
        assert await engine.dlq.list() == []


async def _blows(server: ValkeyServer) -> None:
    chance = random.Random(7)
    while True:
        await asyncio.sleep(EVERY)
        if chance.random() < 0.5:
            await asyncio.to_thread(server.restart)
        else:
            try:
                server.empty()
            except RedisError:
                continue
