"""The client of a `refs` run: starts it, changes it, ends it, resumes it. Retries until it gets an answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from random import Random
from typing import Any, TypeVar

from plait.dialects.refs.refs import refs
from plait.engine import Handle
from plait.kernel.errors import Conflict, RunFailed, Unavailable
from plait.registry.engine import Engine
from plait.testing.sim.client import MANY, get_through, reached
from plait.testing.sim.cluster import Cluster

from .drawing import BROKEN, END, EXTRA, WORK
from .scenario import FORK, INPUT, PATIENCE, RefsRoot
from .world import RefsWorld

T = TypeVar("T")


class RefsClient:
    def __init__(self, cluster: Cluster, world: RefsWorld, seed: int, root: RefsRoot) -> None:
        self.root = root
        self.told = ""
        """How the run ended, as its caller saw it."""
        self._cluster = cluster
        self._world = world
        self._random = Random(f"client {seed} {root.id}")

    async def serve(self) -> None:
        root = self.root
        deadline = PATIENCE if root.ending == "passes its deadline" else None
        await self._until(lambda engine: engine.start(refs(root.definition), INPUT, id=root.id, deadline=deadline))
        await self._act()
        self.told = await self._ended(root.id)
        await self._take_up_again()

    async def _act(self) -> None:
        """Acts on the run while it runs."""
        ending = self.root.ending
        if ending.startswith("is cancelled"):
            await self._cluster.clock.sleep(PATIENCE)
            compensate = ending == "is cancelled and undone"
            await self._on_run(lambda handle: handle.cancel("enough", compensate=compensate))
        elif ending == "is patched":
            await self._cluster.clock.sleep(PATIENCE)
            await self._patch()
        elif ending == "gets a result in advance":
            await self._cluster.clock.sleep(PATIENCE)
            body = {"stepName": END, "output": {"known": "before"}}
            await self._on_run(lambda handle: handle.message("preset", body, id="preset"))

    async def _take_up_again(self) -> None:
        root = self.root
        match root.ending:
            case "fails and is retried" | "fails, is undone and retried" | "is cancelled and retried":
                self._world.repaired.add(root.id)
                await self._on_run(self._retry)
                self.told += await self._ended(root.id)
            case "fails and its dead letter is retried":
                self._world.repaired.add(root.id)
                await self._until(self._redeliver)
                self.told += await self._ended(root.id)
            case "completes and is forked":
                await self._on_run(self._fork)
                self.told += _with_children_of(root.id, await self._ended(f"{root.id}{FORK}"))
            case _:
                pass

    async def _patch(self) -> None:
        """Adds another step after the last."""
        step = {"name": EXTRA, "action": {"function": WORK}, "input": {"last": f"@{END}"}}
        with reached("invalid_definition"):  # it was added already
            await self._on_run(lambda handle: handle.patch([{"op": "add_step", "step": step}]))

    async def _retry(self, handle: Handle[Any]) -> None:
        """Only once: an attempt that seemed to fail may have reached it. While the run is compensated, it is too
        early."""
        if await _resumed(handle):
            return
        try:
            await handle.retry()
        except Conflict as error:
            if error.code == "kernel.rolling_back":
                raise Unavailable("sim.too_early", "the run is being undone") from None
            if not await _resumed(handle):
                raise

    async def _redeliver(self, engine: Engine) -> None:
        for letter in await engine.dlq.list(run_id=self.root.id, limit=MANY):
            if letter.token == BROKEN:
                with reached("kernel.dead_letter_settled", "nothing_to_resume"):
                    await engine.dlq.retry(letter.id)

    async def _fork(self, handle: Handle[Any]) -> None:
        """At any event: everything after it is done again, with the same outcome."""
        last = next(event.seq for event in await handle.events() if event.type == "refs.ended")
        place = max(1, round(Random(self.root.id).random() * (last - 1)))
        with reached("kernel.run_exists"):
            await handle.fork(place, id=f"{self.root.id}{FORK}")

    async def _ended(self, id: str) -> str:
        try:
            return f"completed: {await self._on_run(lambda handle: handle.result(), id)}\n"
        except RunFailed as failed:
            return f"{failed.run_status}: {failed.error.code}: {failed.error.message}\n"

    async def _on_run(self, call: Callable[[Handle[Any]], Awaitable[T]], id: str | None = None) -> T:
        async def on(engine: Engine) -> T:
            return await call(await engine.get(id or self.root.id))

        return await self._until(on)

    async def _until(self, call: Callable[[Engine], Awaitable[T]]) -> T:
        return await get_through(self._cluster, self._random, call)


def _with_children_of(source: str, told: str) -> str:
    """A child's id depends on timing: a fork keeps the child of its source only if it forked after the child began."""
    return told.replace(f"{source}{FORK}:", f"{source}:")


async def _resumed(handle: Handle[Any]) -> bool:
    return any(event.type == "refs.resumed" for event in await handle.events())
