"""The client of a goals run: starts it, ends it, resumes it. Retries until it gets an answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from random import Random
from typing import Any, TypeVar

from plait.dialects.goals.definition import goals
from plait.dialects.goals.running.state import COMPENSATION
from plait.engine import Handle
from plait.kernel.errors import RunFailed, Unavailable
from plait.registry.engine import Engine
from plait.testing.sim.client import MANY, get_through, reached
from plait.testing.sim.cluster import Cluster

from .catalog import IDLE
from .scenario import FORK, PATIENCE, FlowRoot, FlowScenario
from .world import FlowWorld

CHILD = "~child:"
"""Prefix of the kernel's tokens for the compensation of children."""

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
        elif root.ending == "is patched":
            await self._patch()
        self.told = await self._ended()
        await self._take_up_again()

    async def _take_up_again(self) -> None:
        """After the end: work in flight may outlive it by less than the pause, or by more."""
        root = self.root
        match root.ending:
            case "fails and is retried":
                await self._cluster.clock.sleep(root.pause)
                self._world.repaired.add(root.id)
                await self._on_run(self._retry)
            case "ends and its dead letters are retried":
                await self._cluster.clock.sleep(PATIENCE)
                self._world.repaired.add(root.id)
                await self._until(self._redeliver)
            case "ends and is forked":
                await self._cluster.clock.sleep(root.pause)
                await self._on_run(self._fork)
                self.told += await self._ended(f"{root.id}{FORK}")
                return
            case _:
                return
        self.told += await self._ended()

    async def _patch(self) -> None:
        """Sets the value that its goal waits for and skips a step that waits for the same; only then the answer
        comes."""
        await self._cluster.clock.sleep(PATIENCE)
        operations = [{"op": "skip", "step": IDLE}, {"op": "set", "name": "p", "value": "P"}]
        with reached("RUN_FINISHED", "kernel.rolling_back", "goals.bad_patch"):
            await self._on_run(lambda handle: handle.patch(operations))
        self._world.release(self.root.id)

    async def _fork(self, handle: Handle[Any]) -> None:
        random, events = Random(self.root.id), await handle.events()
        started = sorted({event.data["step_id"] for event in events if event.type == "step_started"})
        last = next(event.seq for event in events if event.type in ("run.completed", "run.failed", "rollback.started"))
        place = random.choice([None, 1, max(1, round(random.random() * (last - 1))), *started])
        with reached("kernel.run_exists"):
            await handle.fork(place, id=f"{self.root.id}{FORK}")

    async def _redeliver(self, engine: Engine) -> None:
        """Compensators that failed permanently, of the run and of its children, and those of whole children."""
        for letter in await engine.dlq.list(limit=MANY):
            if letter.run_id.partition(":")[0] == self.root.id and letter.token.startswith((COMPENSATION, CHILD)):
                with reached("kernel.dead_letter_settled"):
                    await engine.dlq.retry(letter.id)

    async def _ended(self, id: str | None = None) -> str:
        """The text of a failure depends on what failed first."""
        try:
            return f"completed: {await self._on_run(lambda handle: handle.result(), id)}\n"
        except RunFailed as failed:
            return f"{failed.run_status}: {failed.error.code}\n"

    async def _retry(self, handle: Handle[Any]) -> None:
        """Only once: an attempt that seemed to fail may have reached it. While late work is compensated, it is too
        early."""
        if any(event.type == "flow_resumed" for event in await handle.events()):
            return
        with reached("kernel.rolling_back"):
            if await handle.status() == "failed":
                await handle.retry()
                return
        raise Unavailable("sim.too_early", "the run is being undone")

    async def _on_run(self, call: Callable[[Handle[Any]], Awaitable[T]], id: str | None = None) -> T:
        async def on(engine: Engine) -> T:
            return await call(await engine.get(id or self.root.id))

        return await self._until(on)

    async def _until(self, call: Callable[[Engine], Awaitable[T]]) -> T:
        return await get_through(self._cluster, self._random, call)
