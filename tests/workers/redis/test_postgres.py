"""Two engines on PostgreSQL share a Redis: either takes results of what the other offered."""

import asyncio

from plait import Engine

from .queued import crowd
from .stream_worker import Delivered, working


async def test_two_engines_share_streams_and_results(redis_url: str, postgres_url: str):
    done: list[str] = []

    async def do(task: Delivered) -> None:
        done.append(task.token["idempotency_key"])
        await task.complete(2 * task.token["payload"][0])

    async with (
        Engine(postgres_url, definitions=[crowd], redis=redis_url) as one,
        Engine(postgres_url, definitions=[crowd], redis=redis_url) as other,
        working(redis_url, "wf.tasks.math") as worker,
    ):
        serving = asyncio.ensure_future(worker.serve(do))
        runs = [await engine.start(crowd, 20) for engine in (one, other) for _ in range(3)]
        assert [await run.result() for run in runs] == [20 * 19] * 6
        assert len(done) == len(set(done)) == 120
        for run in runs:
            assert [event.type for event in await run.events()].count("task.queued") == 20
        serving.cancel()
