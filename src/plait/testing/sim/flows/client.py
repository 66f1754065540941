"""The client of a run towards goals: starts it, ends it, takes it up again. Tries until it is answered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from random import Random
from typing import Any, TypeVar

from plait.dialects.goals.definition import goals
from plait.engine import Handle
from plait.kernel.errors import RunFailed
from plait.registry.engine import Engine
from plait.testing.sim.client import get_through
from plait.testing.sim.cluster import Cluster

from .scenario import PATIENCE, FlowRoot, FlowScenario
from .world import FlowWorld

T = TypeVar("T")


class FlowClient:
    def __init__(self, cluster: Cluster, world: FlowWorld, scenario: FlowScenario, root: FlowRoot) -> None:
        self.root = root
        self.told = ""
        """How the run ended, as its caller saw it."""
        self._cluster = cluster
        self._world = world
        self._init = scenario.init
        self._random = Random(f"client {scenario.seed} {root.id}")

    async def serve(self) -> None:
        root = self.root
        deadline = PATIENCE if root.ending == "passes its deadline" else None
        await self._until(lambda engine: engine.start(goals(*root.goals), self._init, id=root.id, deadline=deadline))
        if root.ending.startswith("is cancelled"):
            await self._cluster.clock.sleep(PATIENCE)
            compensate = root.ending == "is cancelled and undone"
            await self._on_run(lambda handle: handle.cancel("enough", compensate=compensate))
        self.told = await self._ended()
        if root.ending == "fails and is retried":
            await self._cluster.clock.sleep(PATIENCE)  # what was under way has ended by then
            self._world.repaired.add(root.id)
            await self._on_run(self._retry)
            self.told += await self._ended()

    async def _ended(self) -> str:
        """The text of a failure depends on what failed first."""
        try:
            return f"completed: {await self._on_run(lambda handle: handle.result())}\n"
        except RunFailed as failed:
            return f"{failed.run_status}: {failed.error.code}\n"

    async def _retry(self, handle: Handle[Any]) -> None:
        if await handle.status() == "failed":  # else a try that seemed to fail has reached it
            await handle.retry()

    async def _on_run(self, call: Callable[[Handle[Any]], Awaitable[T]]) -> T:
        async def on(engine: Engine) -> T:
            return await call(await engine.get(self.root.id))

        return await self._until(on)

    async def _until(self, call: Callable[[Engine], Awaitable[T]]) -> T:
        return await get_through(self._cluster, self._random, call)
