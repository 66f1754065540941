"""Tasks of queues go by streams of a real Valkey, and their results come back."""

import asyncio
from typing import Any

import pytest

from plait import Engine
from plait.dialects.graph.graph import graph
from plait.engine.handle import Handle
from plait.errors import RunFailed

from .queued import crowd, doubled, shouting
from .stream_worker import working

MATH, VOICE = "wf.tasks.math", "wf.tasks.voice"


async def types(run: Handle[Any]) -> list[str]:
    return [event.type for event in await run.events()]


async def test_a_step_is_done_by_whoever_reads_its_stream(redis_url: str):
    async with Engine("memory:", definitions=[doubled], redis=redis_url) as engine, working(redis_url, MATH) as worker:
        run = await engine.start(doubled, 21, id="r1")
        task = await worker.one()
        assert (task.fields["run_id"], task.fields["node_id"]) == ("r1", task.token["to_node"])
        assert (task.token["handler"], task.token["payload"], task.token["attempt"]) == ("double", [21], 1)
        await task.complete(42)
        assert await run.result() == 42


async def test_a_node_of_a_graph_is_done_by_whoever_reads_its_stream(redis_url: str):
    async with Engine("memory:", redis=redis_url) as engine, working(redis_url, VOICE) as worker:
        run = await engine.start(shouting(), {"text": "tea"})
        task = await worker.one()
        assert (task.token["handler"], task.token["payload"]) == ("shout", {"text": "tea"})
        await task.complete({"text": "TEA"})
        assert await run.result() == {"A": {"text": "TEA"}}


async def test_a_node_without_a_queue_is_on_the_stream_of_its_type(redis_url: str):
    async with Engine("memory:", redis=redis_url) as engine, working(redis_url, "wf.tasks.task") as worker:
        run = await engine.start(shouting(queue=None), {"text": "tea"})
        await (await worker.one()).complete("TEA")
        assert await run.result() == {"A": "TEA"}


async def test_a_result_may_say_where_to_go_on(redis_url: str):
    chooser = {"id": "A", "type": "task", "queue": "voice"} | {
        "branch": {"type": "agent_driven", "available_next_nodes": ["B", "C"]}
    }
    others = [{"id": id, "type": "transform", "config": {"output": id.lower()}} for id in ("B", "C")]
    async with Engine("memory:", redis=redis_url) as engine, working(redis_url, VOICE) as worker:
        run = await engine.start(graph({"nodes": [chooser, *others], "edges": []}), {})
        await (await worker.one()).complete({"sure": True}, next_nodes=["C"])
        assert await run.result() == {"C": "c"}


async def test_a_failure_is_tried_again_and_a_final_one_is_not(redis_url: str):
    retry = {"max_attempts": 2, "backoff_ms": 1}
    async with Engine("memory:", redis=redis_url) as engine, working(redis_url, VOICE) as worker:
        run = await engine.start(shouting(retry=retry), {})
        await (await worker.one()).complete(status="failed", error={"type": "Hoarse", "message": "no voice"})
        task = await worker.one()
        assert task.token["attempt"] == 2
        error = {"type": "Mute", "message": "never had one", "retryable": False}
        await task.complete(status="failed", error=error)
        with pytest.raises(RunFailed, match="never had one"):
            await run.result()


async def test_many_tasks_keep_their_stream_empty_once_they_are_done(redis_url: str):
    async with Engine("memory:", definitions=[crowd], redis=redis_url) as engine, working(redis_url, MATH) as worker:
        run = await engine.start(crowd, 300)

        async def do(task: Any) -> None:
            await task.complete(2 * task.token["payload"][0])

        serving = asyncio.ensure_future(worker.serve(do))
        assert await run.result() == 300 * 299
        serving.cancel()
    async with working(redis_url, MATH) as reader:
        assert await reader.db.xlen(MATH) == 0
        assert await reader.db.exists("completion_signals", "completion_signals:in_flight") == 0


# -- workers that are gone, and results that come twice ----------------------------------------------------------------


async def test_a_worker_that_is_gone_loses_its_task_to_the_next_and_its_result_is_late(short_lease: str):
    async with (
        Engine("memory:", definitions=[doubled], redis=short_lease) as engine,
        working(short_lease.partition("?")[0], MATH) as worker,
    ):
        run = await engine.start(doubled, 21)
        lost = await worker.one()
        task = await worker.one()
        assert (task.token["attempt"], task.token["token_id"]) == (2, lost.token["token_id"])
        assert task.token["idempotency_key"] == lost.token["idempotency_key"]
        await lost.complete(41)
        await task.complete(42)
        assert await run.result() == 42
        assert (await types(run)).count("task.late") == 1


async def test_a_worker_that_speaks_of_its_task_keeps_it(short_lease: str):
    async with (
        Engine("memory:", definitions=[doubled], redis=short_lease) as engine,
        working(short_lease.partition("?")[0], MATH) as worker,
    ):
        run = await engine.start(doubled, 21)
        task = await worker.one()
        for _ in range(15):  # three times as long as the lease
            await asyncio.sleep(0.2)
            await task.beat()
        await task.complete(42)
        assert await run.result() == 42
        assert (await types(run)).count("task.queued") == 1


async def test_a_result_that_comes_twice_counts_once(redis_url: str):
    async with Engine("memory:", definitions=[crowd], redis=redis_url) as engine, working(redis_url, MATH) as worker:
        run = await engine.start(crowd, 2)
        first, second = await worker.one(), await worker.one()
        for _ in range(3):
            await first.complete(1)
        await second.complete(2)
        assert await run.result() == 3
        assert "task.late" not in await types(run)


# -- who gets a task ---------------------------------------------------------------------------------------------------


async def test_a_queue_that_nobody_reads_on_redis_is_left_to_other_workers(redis_url: str):
    async with Engine("memory:", definitions=[doubled], redis=redis_url) as engine:
        run = await engine.start(doubled, 21)
        [reason] = await run.waiting()
        assert reason.text == "no worker on queue `math` for step `double`"
        [task] = await engine.queues.claim("w", ["math"], wait_ms=5_000)
        await engine.queues.complete(task.id, 42)
        assert await run.result() == 42


async def test_what_nobody_has_begun_is_given_back_when_the_engine_stops(redis_url: str, tmp_path: Any):
    db = f"sqlite:///{tmp_path}/plait.db"
    async with working(redis_url, MATH) as worker:
        async with Engine(db, definitions=[crowd], redis=redis_url) as engine:
            await engine.start(crowd, 2, id="r")
            begun = await worker.one()
        assert await worker.db.xlen(MATH) == 1
        await begun.complete(1)  # nobody is there to hear it
        async with Engine(db, definitions=[crowd], redis=redis_url) as engine:
            other = await worker.one()
            assert (other.token["attempt"], other.token["token_id"] != begun.token["token_id"]) == (1, True)
            await other.complete(2)
            assert await (await engine.get("r")).result() == 3


async def test_a_cancelled_run_is_published_and_its_tasks_leave_the_stream(redis_url: str):
    async with Engine("memory:", definitions=[doubled], redis=redis_url) as engine, working(redis_url, MATH) as worker:
        run = await engine.start(doubled, 21, id="r1")
        listener = worker.db.pubsub()
        await listener.subscribe("cancel:r1")
        await worker.one()
        await run.cancel("not wanted")
        while (message := await listener.get_message(timeout=5)) is None or message["type"] != "message":
            pass
        assert message["data"] == "cancelled"
        while await worker.db.xlen(MATH):
            pass  # each look is a round trip
        await listener.aclose()


async def test_each_namespace_has_keys_of_its_own(redis_url: str):
    async with (
        Engine("memory:", definitions=[doubled], redis=redis_url) as engine,
        working(redis_url, f"tenant:acme:{MATH}") as worker,
        working(redis_url, MATH) as foreign,
    ):
        run = await engine.start(doubled, 21, id="r1", namespace="acme")
        task = await worker.one()
        assert task.token["tenant_id"] == "acme"
        await foreign.signal(task.result(666))
        await foreign.signal({"run_id": "acme/r1", "node_id": "x", "status": "completed"})
        await foreign.heard()
        await task.complete(42)
        assert await run.result() == 42
