"""What observers see on Redis: written after the commit, and never read."""

import json

from plait import Engine
from plait.dialects.graph.graph import graph
from plait.dialects.graph.handlers import handler

from .stream_worker import working


@handler("echo")
def echo(payload: object) -> object:
    return payload


def node(id: str, **more: object) -> dict[str, object]:
    return {"id": id, "type": "task", "config": {"handler": "echo"}, **more}


async def test_the_state_of_a_run_is_there_for_observers(redis_url: str):
    human = {"id": "boss", "type": "human", "human_config": {"approvers": ["ann"]}}
    edges = [("A", "B"), ("A", "C"), ("B", "D"), ("C", "D"), ("D", "boss")]
    definition = {
        "nodes": [node("A"), node("B"), node("C", queue="slow"), node("D"), human],
        "edges": [{"from": source, "to": target} for source, target in edges],
    }
    async with (
        Engine("memory:", definitions=[echo], redis=redis_url) as engine,
        working(redis_url, "wf.tasks.slow") as worker,
    ):
        db = worker.db
        run = await engine.start(graph(definition), {"n": 1}, id="r1")
        task = await worker.one()
        while not await db.smembers("pending_tokens:r1:D"):
            pass  # each look is a round trip
        assert await db.smembers("pending_tokens:r1:D") == {"B"}
        assert await db.get("counter:r1") == "2"
        assert json.loads(await db.get("ir:r1"))["entry_nodes"] == ["A"]
        assert json.loads(await db.hget("context:r1", "A:output")) == {"n": 1}
        await task.complete({"n": 2})
        while not (open_ones := await db.smembers("pending_approvals:r1")):
            pass
        [approval] = open_ones
        found = await db.hgetall(f"approval:{approval}")
        assert (found["node_id"], found["status"], found["approvers"]) == ("boss", "pending", "ann")
        assert await db.smembers("pending_tokens:r1:D") == set()
        [asked] = await engine.approvals.list()
        await engine.approvals.decide(asked.id, "approve", by="ann")
        await run.result()
        while await db.hget(f"approval:{approval}", "status") != "decided":
            pass
        assert await db.get("counter:r1") == "0"
        ops = [key async for event in _events(run) for key in event]
        assert await db.smembers("applied:r1") == set(ops)
        assert 0 < await db.ttl("ir:r1") <= 86_400


async def _events(run):
    for event in await run.events():
        yield [*event.data.get("op_keys", ()), *filter(None, [event.data.get("op_key")])]


async def test_a_loop_tells_its_iteration(redis_url: str):
    loop = {"condition": "output.n < 3", "max_iterations": 5}
    async with (
        Engine("memory:", redis=redis_url) as engine,
        working(redis_url, "wf.tasks.slow") as worker,
    ):
        nodes = [{"id": "A", "type": "task", "queue": "slow", "loop": loop}]
        run = await engine.start(graph({"nodes": nodes, "edges": []}), {}, id="r1")
        await (await worker.one()).complete({"n": 1})
        again = await worker.one()
        while await worker.db.hget("loop:r1:A", "current_iteration") != "2":
            pass
        await again.complete({"n": 3})
        await run.result()
        while await worker.db.exists("loop:r1:A"):
            pass
