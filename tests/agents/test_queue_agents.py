"""Agents on worker queues: their journal goes through the task protocol, fenced like results, and survives workers."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from plait import Engine
from plait.agents import tool
from plait.agents.executor import AgentExecutor
from plait.agents.model import ModelReply, ModelRequest
from plait.agents.models import Models
from plait.agents.services import AgentServices
from plait.agents.tools.toolbox import RegisteredTools, Toolbox
from plait.dialects.graph.graph import graph
from plait.errors import PlaitError
from plait.kernel.clock import SystemClock
from plait.testing import ScriptedModel
from plait.workers.queue_worker import QueueWorker, WorkerSettings

SCRIPT = [{"tool": "charge", "args": {}}, {"tool": "refund", "args": {}}, {"output": "ok"}]
GRAPH: dict[str, Any] = {
    "nodes": [
        {
            "id": "a",
            "type": "agent",
            "queue": "gpu",
            "agent_config": {"model": "m", "available_tools": ["charge", "refund"]},
        }
    ]
}


class World:
    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.model = ScriptedModel({"a": SCRIPT})
        self.stuck = asyncio.Event()

        @tool
        def charge(key: str) -> str:
            """Charges."""
            self.calls[key] += 1
            return "charged"

        @tool(needs_approval=True)
        def refund(key: str) -> str:
            """Refunds."""
            self.calls[key] += 1
            return "refunded"

        self.tools = (charge, refund)

    async def complete(self, request: ModelRequest) -> ModelReply:
        self.calls[request.key] += 1
        return await self.model.complete(request)

    def executor(self, model: Any = None) -> AgentExecutor:
        models = Models({"m": model or self})
        toolbox = Toolbox((RegisteredTools(self.tools),))
        services = AgentServices(clock=SystemClock(), models=models, toolbox=toolbox)
        return AgentExecutor(models, lambda task: services)


@asynccontextmanager
async def worker(engine: Engine, executor: AgentExecutor, name: str) -> AsyncIterator[None]:
    settings = WorkerSettings(name=name, queues=["gpu"], namespace="default", drain=0.0)
    found = QueueWorker(engine.queues, [executor], SystemClock(), settings)
    running = asyncio.ensure_future(found.run())
    try:
        yield
    finally:
        found.stop()
        await running


async def seen(handle: Any, wanted: str, times: int = 1) -> None:
    count = 0
    async for events in handle.follow():
        count += sum(event.type == wanted for event in events)
        if count >= times:
            return


async def test_a_worker_goes_on_where_another_left_and_waits_for_people_without_any():
    world = World()

    class Hanging:
        """Answers once, and then never."""

        async def complete(self, request: ModelRequest) -> ModelReply:
            if len(request.messages) > 2:
                world.stuck.set()
                await asyncio.Event().wait()
            return await world.complete(request)

    async with Engine("memory:", models={"m": world}) as engine:
        handle = await engine.start(graph(GRAPH))
        async with worker(engine, world.executor(Hanging()), "first"):
            await world.stuck.wait()
        async with worker(engine, world.executor(), "second"):
            await seen(handle, "task.suspended")
            assert await engine.queues.claim("third", ["gpu"]) == [], "it is on no queue while it waits"
            [asked] = await engine.approvals.list()
            await engine.approvals.decide(asked.id, "approve", by="ada")
            assert await handle.result() == {"a": "ok"}
        [record] = (await handle.agents()).agents
    assert [call.status for turn in record.turns for call in turn.tool_calls] == ["completed", "completed"]
    assert max(world.calls.values()) == 1, world.calls


async def test_an_entry_of_a_claim_that_is_lost_is_refused():
    world = World()
    async with Engine("memory:", models={"m": world}) as engine:
        handle = await engine.start(graph(GRAPH))
        [claimed] = await engine.queues.claim("w", ["gpu"], wait_ms=5_000)
        entry = {"entry": "fed_back", "turn": 1, "problem": "x"}
        await engine.queues.keep(claimed.id, 0, entry)
        await engine.queues.keep(claimed.id, 0, entry)  # the same again is one
        with pytest.raises(PlaitError) as unreadable:
            await engine.queues.keep(claimed.id, 1, {"page": 1})
        assert unreadable.value.code == "task.bad_entry"
        with pytest.raises(PlaitError) as stale:
            await engine.queues.keep(claimed.id, 5, entry)
        assert stale.value.code == "task.stale_entry"
        with pytest.raises(PlaitError) as bad:
            await engine.queues.suspend(claimed.id, {"for": "ever"})
        assert bad.value.code == "task.bad_entry"
        await handle.cancel()
        with pytest.raises(PlaitError):
            await engine.queues.keep(claimed.id, 1, entry)
        assert [event.type for event in await handle.events()].count("task.journaled") == 1
