"""Queues are fair between namespaces: who comes while another's backlog is being admitted does not wait for its end."""

from collections.abc import Sequence
from typing import Any

import pytest

from plait import Engine, workflow
from plait.kernel.ids import RunId, shard_of
from plait.kernel.run_queues import AdmissionRound, QueuedRun, waiting_on
from plait.kernel.store import RunRow, Write
from plait.stores.memory import MemoryStore
from plait.testing import VirtualClock
from tests.support.effort import tries


@workflow
async def mail(ctx: Any) -> None:
    await ctx.listen("end")


class Admissions:
    """Stands before the queues of a store: notes who is admitted, and lets someone in between."""

    def __init__(self, store: MemoryStore) -> None:
        self._queues = store.run_queues
        self.turns: list[str] = []
        self.at: dict[int, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._queues, name)

    async def admit(self, namespace: str, queue: str, limit: int) -> AdmissionRound:
        found = await self._queues.admit(namespace, queue, limit)
        self.turns.append(namespace)
        if (act := self.at.pop(len(self.turns), None)) is not None:
            await act()
        return found


async def backlog(store: MemoryStore, queues: Sequence[str], count: int) -> None:
    """Runs of the namespace `hog`, as rows without anything to do: to run them all would be most of the test."""
    for first in range(0, count, 10_000):
        writes: list[Write] = []
        for number in range(first, min(first + 10_000, count)):
            id, queue = RunId(f"hog/{number:06}"), queues[number % len(queues)]
            row = RunRow(
                id=id,
                namespace="hog",
                dialect="code",
                definition="mail",
                shard=shard_of(id),
                awake=False,
                waiting=waiting_on(queue),
            )
            writes.append(Write(id, row.shard, None, create=row, place=QueuedRun(namespace="hog", queue=queue)))
        assert {*await store.commit(writes)} == {"ok"}


@pytest.mark.chance
@pytest.mark.parametrize(("queues", "count"), [(1, 10_000), (300, 600)])
async def test_a_backlog_of_one_namespace_does_not_hold_up_another(queues: int, count: int):
    """Each run of the other namespace comes while the backlog is admitted, and has its turn within a few."""
    clock = VirtualClock()
    store = MemoryStore(clock=clock)
    watched = Admissions(store)
    store.run_queues = watched  # pyright: ignore[reportAttributeAccessIssue]
    async with Engine(store=store, clock=clock, definitions=[mail]) as engine:
        await backlog(store, [f"q-{n}" for n in range(queues)], tries(count))
        came: list[int] = []

        async def come() -> None:
            came.append(len(watched.turns))
            await engine.start(mail, namespace="quiet", queue="q")
            if len(came) < 3:
                watched.at[len(watched.turns) + 40] = come

        watched.at[5] = come
        await engine.start(mail, namespace="hog", queue="q-0")
        for _ in range(300):
            if watched.turns.count("quiet") >= 3:
                break
            await clock.advance(0.01)
        waited = [watched.turns[at:].index("quiet") for at in came if "quiet" in watched.turns[at:]]
        assert len(waited) == 3
        assert max(waited) <= 10
    await store.dispose()
