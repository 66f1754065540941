"""A worker on a stream, of which a test says what it does with each task."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from redis import asyncio as client
from redis.exceptions import RedisError, ResponseError

GROUP = "workers"


class Delivered:
    """A task that a consumer has."""

    def __init__(self, worker: StreamWorker, id: str, fields: dict[str, str]) -> None:
        self.worker, self.id, self.fields = worker, id, fields
        self.envelope: dict[str, Any] = json.loads(fields["token"])
        self.token: dict[str, Any] = self.envelope["token"]

    def result(self, output: Any = None, **more: Any) -> dict[str, Any]:
        names = ("run_id", "token_id", "attempt", "job_id")
        found = {name: self.token[name] for name in names} | {"node_id": self.fields["node_id"]}
        return found | {"status": "completed", "result_data": output} | more

    async def complete(self, output: Any = None, **more: Any) -> None:
        await self.worker.signal(self.result(output, **more))

    async def beat(self) -> None:
        await self.worker.db.xclaim(self.worker.stream, GROUP, "me", 0, [self.id], justid=True)


class StreamWorker:
    def __init__(self, url: str, stream: str) -> None:
        self.stream = stream
        self.prefix = stream.partition("wf.tasks.")[0]
        self.db: Any = client.from_url(url, decode_responses=True, protocol=2)

    async def take(self, count: int = 1) -> list[Delivered]:
        """Waits for tasks; the group is made if need be."""
        while True:
            try:
                found = await self.db.xreadgroup(GROUP, "me", {self.stream: ">"}, count=count, block=2_000)
            except ResponseError:
                with suppress(ResponseError):
                    await self.db.xgroup_create(self.stream, GROUP, id="0", mkstream=True)
                continue
            if found:
                return [Delivered(self, id, fields) for id, fields in found[0][1]]

    async def one(self) -> Delivered:
        return (await self.take())[0]

    async def signal(self, result: Any) -> None:
        text = result if isinstance(result, str | bytes) else json.dumps(result)
        await self.db.rpush(f"{self.prefix}completion_signals", text)

    async def heard(self) -> None:
        """Waits until all results that were sent are dealt with."""
        while await self.db.exists(f"{self.prefix}completion_signals", f"{self.prefix}completion_signals:in_flight"):
            pass  # each look is a round trip

    async def serve(self, do: Callable[[Delivered], Awaitable[None]]) -> None:
        """Until it is cancelled, whatever becomes of Redis."""
        while True:
            try:
                for task in await self.take(count=20):
                    await do(task)
                    await self.db.xack(self.stream, GROUP, task.id)
            except (RedisError, OSError):
                await asyncio.sleep(0.05)  # it is away


@asynccontextmanager
async def working(url: str, stream: str) -> AsyncGenerator[StreamWorker]:
    worker = StreamWorker(url, stream)
    try:
        yield worker
    finally:
        await worker.db.aclose()
