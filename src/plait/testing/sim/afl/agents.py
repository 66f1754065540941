"""Agents in other processes: they claim events from queues and report results; some of them die."""

from __future__ import annotations

from random import Random

from plait.api.claim_id import read
from plait.api.task import QueueTask
from plait.dialects.afl.running.work import AGENT_QUEUE
from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import DEFAULT_NAMESPACE
from plait.registry.engine import Engine
from plait.testing.sim.client import get_through, reached
from plait.testing.sim.cluster import Cluster

from .drawing import REMOTE
from .world import AflWorld, BadLuck, Entry

_LEASE = 60_000


class Agents:
    def __init__(self, cluster: Cluster, world: AflWorld, seed: int) -> None:
        self._cluster = cluster
        self._world = world
        self._random = Random(f"agents {seed}")
        self._dead: set[str] = set()
        """Events whose first agent died."""

    async def serve(self) -> None:
        """Runs whenever something was put on a queue."""
        while True:
            await self._cluster.queued.wait()
            self._cluster.queued.clear()
            while found := await get_through(self._cluster, self._random, self._claim):
                for task in found:
                    self._cluster.spawn(self._carry_out(task))

    async def _claim(self, engine: Engine) -> list[QueueTask]:
        return await engine.queues.claim_matching(
            "agent", lambda queue: queue == AGENT_QUEUE + REMOTE, limit=5, lease_ms=_LEASE
        )

    async def _carry_out(self, task: QueueTask) -> None:
        held, payload = read(task.id, DEFAULT_NAMESPACE), task.input["arguments"]
        await self._world.note(Entry(held.run_id, held.token, task.attempt, task.key))
        if self._world.luck(held.run_id, payload).dies and task.key not in self._dead:
            self._dead.add(task.key)
            return
        try:
            result = await self._world.carry_out(held.run_id, payload, task.attempt)
        except BadLuck as failure:
            await self._fail(task, str(failure))
        else:
            await self._complete(task, result)

    async def _complete(self, task: QueueTask, result: object) -> None:
        async def complete(engine: Engine) -> None:
            with reached("task.lease_lost", "task.settled"):
                await engine.queues.complete(task.id, result)

        await get_through(self._cluster, self._random, complete)

    async def _fail(self, task: QueueTask, message: str) -> None:
        async def fail(engine: Engine) -> None:
            with reached("task.lease_lost", "task.settled"):
                await engine.queues.fail(task.id, ErrorInfo("task.failed", message, type="BadLuck"))

        await get_through(self._cluster, self._random, fail)
