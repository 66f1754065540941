"""With encryption at rest, tasks still travel; but nothing of a run stays on Redis."""

from plait import Engine
from tests.codec.places import ring

from .queued import shouting
from .stream_worker import working


async def test_what_is_encrypted_at_rest_is_not_mirrored(redis_url: str):
    async with (
        Engine("memory:", redis=redis_url, encryption=ring()) as engine,
        working(redis_url, "wf.tasks.voice") as worker,
    ):
        run = await engine.start(shouting(), {"text": "tea"})
        await (await worker.one()).complete({"text": "TEA"})
        assert await run.result() == {"A": {"text": "TEA"}}
        await worker.heard()
    async with working(redis_url, "wf.tasks.voice") as reader:
        assert await reader.db.keys() == [reader.stream]
        assert await reader.db.xlen(reader.stream) == 0
