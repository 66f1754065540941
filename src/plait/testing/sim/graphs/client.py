"""The client of a graph run: starts it, sends it messages, ends it, resumes it. Retries until it gets an answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from random import Random
from typing import Any, TypeVar

from plait.dialects.graph.graph import graph
from plait.engine import Handle
from plait.kernel.errors import RunFailed
from plait.registry.engine import Engine
from plait.testing.sim.client import MANY, get_through, reached
from plait.testing.sim.cluster import Cluster

from .drawing import END, EXTRA, GATE, WORK
from .scenario import FORK, PATIENCE, GraphRoot
from .world import GraphWorld

T = TypeVar("T")


class GraphClient:
    def __init__(self, cluster: Cluster, world: GraphWorld, seed: int, root: GraphRoot) -> None:
        self.root = root
        self.told = ""
        """How the run ended, as its caller saw it."""
        self._cluster = cluster
        self._world = world
        self._random = Random(f"client {seed} {root.id}")

    async def serve(self) -> None:
        root = self.root
        deadline = PATIENCE if root.ending == "passes its deadline" else None
        definition, input = graph(root.definition), {"route": "a"}
        await self._until(lambda engine: engine.start(definition, input, id=root.id, deadline=deadline))
        await self._talk(root.id)
        match root.ending:
            case "is cancelled" | "is cancelled and undone":
                await self._cluster.clock.sleep(PATIENCE)
                compensate = root.ending == "is cancelled and undone"
                await self._on_run(lambda handle: handle.cancel("enough", compensate=compensate))
            case "is patched":
                await self._patch()
            case "holds, and its dead letter is retried":
                await self._cluster.clock.sleep(PATIENCE)
                await self._repair()
            case _:
                pass
        self.told = await self._ended(root.id)
        match root.ending:
            case "fails and its dead letter is retried":
                await self._repair()
                self.told += await self._ended(root.id)
            case "completes and is forked":
                await self._on_run(self._fork)
                await self._talk(f"{root.id}{FORK}")
                self.told += await self._ended(f"{root.id}{FORK}")
            case _:
                pass

    async def _talk(self, run_id: str) -> None:
        """Messages, some of them sent twice."""
        for name in self.root.messages:
            await self._cluster.clock.sleep(self._random.choice((0.0, 1.0, 50.0)))
            for _ in range(self._random.choice((1, 1, 2))):
                await self._send(run_id, name)

    async def _send(self, run_id: str, name: str) -> None:
        with reached("RUN_FINISHED", "kernel.rolling_back"):
            await self._on_run(lambda handle: handle.message(name, {"says": name}, id=name), run_id)

    async def _patch(self) -> None:
        """While it waits: adds another node after the last."""
        await self._cluster.clock.sleep(PATIENCE)
        node = {"id": EXTRA, "type": "task", "config": {"handler": WORK}}
        operations = [
            {"op": "add", "path": "/nodes/-", "value": node},
            {"op": "add", "path": "/edges/-", "value": {"from": END, "to": EXTRA}},
        ]
        with reached("graph.invalid"):  # it was added already
            await self._on_run(lambda handle: handle.patch(operations))
        await self._send(self.root.id, GATE)

    async def _repair(self) -> None:
        self._world.repaired.add(self.root.id)

        async def redeliver(engine: Engine) -> None:
            for letter in await engine.dlq.list(run_id=self.root.id, limit=MANY):
                with reached("kernel.dead_letter_settled", "graph.not_pending"):
                    await engine.dlq.retry(letter.id)

        await self._until(redeliver)

    async def _fork(self, handle: Handle[Any]) -> None:
        """At any event: everything after it is done again, with the same outcome."""
        last = (await handle.events())[-1].seq
        place = max(1, round(Random(self.root.id).random() * (last - 1)))
        with reached("kernel.run_exists"):
            await handle.fork(place, id=f"{self.root.id}{FORK}")

    async def _ended(self, id: str) -> str:
        try:
            return f"completed: {await self._on_run(lambda handle: handle.result(), id)}\n"
        except RunFailed as failed:
            return f"{failed.run_status}: {failed.error.code}\n"

    async def _on_run(self, call: Callable[[Handle[Any]], Awaitable[T]], id: str | None = None) -> T:
        async def on(engine: Engine) -> T:
            return await call(await engine.get(id or self.root.id))

        return await self._until(on)

    async def _until(self, call: Callable[[Engine], Awaitable[T]]) -> T:
        return await get_through(self._cluster, self._random, call)
