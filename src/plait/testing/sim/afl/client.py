"""The client of a program's run: starts it, answers its events, ends it, resumes it. Retries until it gets an
answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from random import Random
from typing import Any, TypeVar

from plait.dialects.afl.definition import Afl
from plait.dialects.afl.preparation import prepare
from plait.dialects.afl.running.results import STEP_CONTINUE
from plait.dialects.afl.running.state import EventRecord, StepRecord
from plait.engine import Handle
from plait.kernel import values
from plait.kernel.errors import Conflict, NotFound, RunFailed
from plait.registry.engine import Engine
from plait.testing.sim.client import MANY, get_through, reached
from plait.testing.sim.cluster import Cluster

from .drawing import DEED, REMOTE, TRIES, WORK
from .scenario import FORK, INPUT, PATIENCE, AflRoot
from .world import AflWorld, answer

T = TypeVar("T")

_HELPED = (0.0, 0.3, 20.0, 40.0)
"""Seconds between the moments at which a client answers open events."""


class AflClient:
    def __init__(self, cluster: Cluster, world: AflWorld, seed: int, root: AflRoot) -> None:
        self.root = root
        self.told = ""
        """How the run ended, as its caller saw it, and the outcomes of its steps."""
        self._cluster = cluster
        self._world = world
        self._random = Random(f"client {seed} {root.id}")
        self._definition = Afl({"source": root.source, "workflow": "Main"})

    async def serve(self) -> None:
        root = self.root
        deadline = PATIENCE if root.ending == "passes its deadline" else None
        prepare(self._definition.definition)  # here, not in a thread
        await self._until(lambda engine: engine.start(self._definition, INPUT, id=root.id, deadline=deadline))
        await self._act()
        self.told = await self._ended(root.id)
        await self._take_up_again()

    async def _act(self) -> None:
        """Acts on the run while it runs."""
        match self.root.ending:
            case "is cancelled" | "is cancelled and undone":
                await self._cluster.clock.sleep(PATIENCE)
                compensate = self.root.ending == "is cancelled and undone"
                await self._on_run(lambda handle: handle.cancel("enough", compensate=compensate))
            case "is continued by hand":
                await self._cluster.clock.sleep(PATIENCE)
                await self._answer_open(lambda event: {"done": "by hand", "note": "by hand"})
            case "is helped along":
                for pause in _HELPED:
                    await self._cluster.clock.sleep(pause)
                    await self._answer_open(self._same_answer)
            case _:
                pass

    async def _answer_open(self, result_of: Callable[[EventRecord], dict[str, Any] | None]) -> None:
        """Answers open events in place of their agents, twice: the second answer changes nothing."""
        for event in await self._until(self._open):
            result = result_of(event)
            if result is not None:
                await self._continue(event, result, "first")
                await self._continue(event, {"done": "too late"}, "second")

    async def _open(self, engine: Engine) -> list[EventRecord]:
        try:
            return await engine.afl.events(self.root.id, state="event.Created")
        except NotFound:  # it is durable, but no owner has loaded it yet
            return []

    async def _continue(self, event: EventRecord, result: dict[str, Any], time: str) -> None:
        body = {"step_id": event.step_id, "result": result}
        id = f"{time} {event.event_id}"
        await self._on_run(lambda handle: handle.message(STEP_CONTINUE, body, id=id))

    def _same_answer(self, event: EventRecord) -> dict[str, Any] | None:
        """The result that it would get anyway; none for an event that is to fail."""
        if event.event_type not in (WORK, DEED, REMOTE):
            return None
        payload = values.decode(event.payload)
        luck = self._world.luck(self.root.id, payload)
        return None if luck.unlucky or luck.fails >= TRIES else answer(payload)

    async def _take_up_again(self) -> None:
        root = self.root
        match root.ending:
            case "fails and is retried":
                self._world.repaired.add(root.id)
                await self._on_run(self._retry)
                self.told += await self._ended(root.id)
            case "fails and its dead letters are retried":
                self._world.repaired.add(root.id)
                await self._until(self._redeliver)
                self.told += await self._ended(root.id)
            case "completes and is forked":
                await self._on_run(self._fork)
                self.told += await self._ended(f"{root.id}{FORK}")
            case "completes and is undone" | "fails and is undone":
                await self._on_run(self._compensate)
                self.told += await self._ended(root.id)
            case _:
                pass

    async def _retry(self, handle: Handle[Any]) -> None:
        """Only once: an attempt that seemed to fail may have reached the run, or be on its way."""
        if await _reopened(handle):
            return
        try:
            await handle.retry()
        except Conflict:
            if not await _reopened(handle):
                raise

    async def _redeliver(self, engine: Engine) -> None:
        """All dead letters; those of caught steps are refused."""
        for letter in await engine.dlq.list(run_id=self.root.id, limit=MANY):
            with reached("kernel.dead_letter_settled", "AFL_STEP_COMPLETE"):
                await engine.dlq.retry(letter.id)

    async def _compensate(self, handle: Handle[Any]) -> None:
        with reached("kernel.still_running", "kernel.rolling_back"):
            await handle.compensate()

    async def _fork(self, handle: Handle[Any]) -> None:
        """At any event: everything after it is done again, with the same outcome."""
        last = (await handle.events())[-1].seq
        place = max(1, round(Random(self.root.id).random() * (last - 1)))
        with reached("kernel.run_exists"):
            await handle.fork(place, id=f"{self.root.id}{FORK}")

    # -- how it gets through -------------------------------------------------------------------------------------

    async def _ended(self, id: str) -> str:
        try:
            said = f"completed: {await self._on_run(lambda handle: handle.result(), id)}\n"
        except RunFailed as failed:
            said = f"{failed.run_status}: {failed.error.code}: {failed.error.message}\n"
        steps = await self._until(lambda engine: engine.afl.steps(id))
        return said + "\n".join(sorted(_shown(step, by_id=not id.endswith(FORK)) for step in steps)) + "\n"

    async def _on_run(self, call: Callable[[Handle[Any]], Awaitable[T]], id: str | None = None) -> T:
        async def on(engine: Engine) -> T:
            return await call(await engine.get(id or self.root.id))

        return await self._until(on)

    async def _until(self, call: Callable[[Engine], Awaitable[T]]) -> T:
        return await get_through(self._cluster, self._random, call)


async def _reopened(handle: Handle[Any]) -> bool:
    return any(event.type == "run.reopened" for event in await handle.events())


def _shown(step: StepRecord, *, by_id: bool) -> str:
    """Everything that must not depend on timing. The ids of a fork's steps do: it has those of its source only if they
    were created before the event where it begins."""
    said = f"{sorted(step.params.items())} {sorted(step.returns.items())}"
    return f"{f'{step.id} ' if by_id else ''}{step.statement_name or step.object_type} {step.state}: {said}"
