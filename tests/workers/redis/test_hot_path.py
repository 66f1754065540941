"""Tasks of queues go by streams of a real Valkey, and their results come back."""

from plait import Engine

from .queued import doubled, shouting
from .stream_worker import working


async def test_a_step_is_done_by_whoever_reads_its_stream(redis_url: str):
    async with Engine("memory:", definitions=[doubled], redis=redis_url) as engine:
        async with working(redis_url, "wf.tasks.math") as worker:
            run = await engine.start(doubled, 21, id="r1")
            task = await worker.one()
            assert (task.fields["run_id"], task.fields["node_id"]) == ("r1", task.token["to_node"])
            assert (task.token["handler"], task.token["payload"], task.token["attempt"]) == ("double", [21], 1)
            await task.complete(42)
            assert await run.result() == 42


async def test_a_node_of_a_graph_is_done_by_whoever_reads_its_stream(redis_url: str):
    async with Engine("memory:", redis=redis_url) as engine:
        async with working(redis_url, "wf.tasks.voice") as worker:
            run = await engine.start(shouting(), {"text": "tea"})
            task = await worker.one()
            assert (task.token["handler"], task.token["payload"]) == ("shout", {"text": "tea"})
            await task.complete({"text": "TEA"})
            assert await run.result() == {"A": {"text": "TEA"}}
