"""Agents of a server that a worker carries over HTTP: a worker with its own models and tools, and no database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from plait import Engine
from plait.client import Client
from plait.kernel.clock import SystemClock
from plait.workers.queue_worker import QueueWorker, WorkerSettings


def remote_worker(
    client: Client, models: dict[str, Any], tools: Iterable[object] = (), *, queue: str = "gpu", **settings: Any
) -> QueueWorker:
    """As `plait worker --url` makes it."""
    engine = Engine("memory:", definitions=list(tools), models=models, work=False)
    settings = {"name": "far", "queues": [queue], "namespace": "default", "drain": 0.0, **settings}
    executor = engine.agents.remote_executor(client.queues)
    return QueueWorker(client.queues, [executor], SystemClock(), WorkerSettings(**settings))


@asynccontextmanager
async def carrying(
    url: str, models: dict[str, Any], tools: Iterable[object] = (), key: str | None = None, **settings: Any
) -> AsyncGenerator[None]:
    async with Client(url, key) as client:
        worker = remote_worker(client, models, tools, **settings)
        running = asyncio.ensure_future(worker.run())
        try:
            yield
        finally:
            worker.stop()
            await running
