"""The client of a run: starts it, sends it messages, decides its approvals, ends it. Retries until it gets an
answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from random import Random
from typing import Any, TypeVar

from plait.engine import Handle
from plait.kernel.errors import Conflict, Forbidden, InvalidInput, RunFailed, Unavailable
from plait.kernel.events import Recorded
from plait.kernel.run_queues import Queueing
from plait.registry.engine import Engine

from .cluster import BrokenPromise, Cluster
from .follow import ASK, PEOPLE, follow
from .plan import Contest, Listen, beside_fixed_children, walk
from .scenario import LANE, Root
from .stale_results import report_stale
from .storm import Storm

T = TypeVar("T")

_PATIENCE = 8.0
"""Longest wait of a client before it retries, in seconds."""
MANY = 10_000
"""More dead letters or approvals than a simulation ever has."""


class Client:
    def __init__(self, cluster: Cluster, root: Root, *, queued: bool) -> None:
        self.root = root
        self._queued = queued
        self.told = ""
        """How the run ended, according to `handle.result()`."""
        self._cluster = cluster
        self._clock = cluster.clock
        self._random = Random(f"client {cluster.scenario.seed} {root.id}")

    async def serve(self) -> None:
        root = self.root
        deadline = root.patience if root.ending == "passes its deadline" else None
        place: Queueing = {"queue": LANE, "dedup_id": root.id} if self._queued else {}
        await self._until(lambda engine: engine.start(follow, root.plan, id=root.id, deadline=deadline, **place))
        watching = self._cluster.spawn(self._watch())
        talking = [self._cluster.spawn(self._talk(names, count)) for names, count in _wanted(root)]
        talking += [self._cluster.spawn(self._ask(number)) for number in range(root.questions)]
        if root.ending.startswith("is cancelled"):
            await self._clock.sleep(root.patience)
            compensate = root.ending == "is cancelled and undone"
            await self._on_run(lambda handle: handle.cancel("enough", compensate=compensate))
        await asyncio.wait([watching, *talking])

    # -- what it does --------------------------------------------------------------------------------------------

    async def _talk(self, names: list[str], count: int) -> None:
        """Messages with these names, each sent only when the one before is acknowledged; some are sent twice."""
        for number, name in product(range(count), names):
            await self._clock.sleep(self._random.choice((0.0, 0.0, 1.0, 5.0)))
            for _ in range(self._random.choice((1, 1, 2))):
                await self._send(name, number)

    async def _send(self, name: str, number: int) -> None:
        body = {"number": number, "padding": "x" * 50 * (number % 3)}
        with reached("RUN_FINISHED"):
            await self._on_run(lambda handle: handle.message(name, body, id=f"{name}-{number}"))

    async def _ask(self, number: int) -> None:
        """An update, sent twice: both get the same answer, if it came in time."""
        await self._clock.sleep(Random(f"ask {self.root.id} {number}").choice((0.0, 1.0, 7.0)))
        for _ in range(2):
            with reached("RUN_FINISHED", "kernel.rolling_back"):
                answer = await self._on_run(lambda handle: handle.update(ASK, number, id=f"{ASK}-{number}"))
                if answer != 2 * number:
                    raise BrokenPromise(f"{self.root.id}: the answer to {number} is {answer}")

    async def _watch(self) -> None:
        """Waits for the end as a caller does; then performs the next action of the scenario, and waits again."""
        self.told = await self._ended()
        match self.root.ending:
            case "fails and is retried":
                self._cluster.world.repaired.add(self.root.id)
                await self._on_run(self._retry)
            case "fails and its dead letter is retried":
                self._cluster.world.repaired.add(self.root.id)
                await self._until(self._redeliver)
            case "completes and is rewound":
                await self._on_run(self._rewind)
            case "completes and is rewound twice":
                await self._on_run(self._rewind)
                self.told += await self._ended()
                await self._on_run(self._rewind)
            case "completes and is forked":
                await self._on_run(self._fork)
                self.told += await self._ended(f"{self.root.id}-fork")
            case "completes and is undone":
                await self._on_run(self._compensate)
            case _:
                return
        self.told += await self._ended()

    async def _ended(self, id: str | None = None) -> str:
        try:
            return f"completed: {await self._on_run(lambda handle: handle.result(), id)}\n"
        except RunFailed as failed:
            return f"{failed.run_status}: {failed.error.message}\n"

    async def _retry(self, handle: Handle[Any]) -> None:
        if await handle.status() == "failed":  # otherwise an attempt that seemed to fail has reached it
            await handle.retry()

    async def _redeliver(self, engine: Engine) -> None:
        for letter in await engine.dlq.list(run_id=self.root.id, limit=MANY):
            if letter.token.endswith("broken"):
                with reached("kernel.dead_letter_settled"):
                    await engine.dlq.retry(letter.id)

    async def _compensate(self, handle: Handle[Any]) -> None:
        with reached("kernel.still_running", "kernel.rolling_back"):
            await handle.compensate()

    async def _rewind(self, handle: Handle[Any]) -> None:
        """To a place passed since the last rewind: another time it may not open the same operations."""
        known = {node.id for node in (await handle.view()).nodes}
        place = self._any_of((_places(await handle.events()) & known) - beside_fixed_children(self.root.plan))
        await handle.rewind(place)

    async def _fork(self, handle: Handle[Any]) -> None:
        place = self._any_of(_places(await handle.events()))
        with reached("kernel.run_exists"):
            await handle.fork(1 if place is None else place, id=f"{self.root.id}-fork")

    def _any_of(self, places: set[str]) -> str | None:
        """The same one in calm and in a storm, even if some places were passed in only one of them."""
        return min([None, *places], key=lambda place: Random(f"{self.root.id} {place}").random())

    # -- how it gets through -------------------------------------------------------------------------------------

    async def _on_run(self, call: Callable[[Handle[Any]], Awaitable[T]], id: str | None = None) -> T:
        async def on(engine: Engine) -> T:
            return await call(await engine.get(id or self.root.id))

        return await self._until(on)

    async def _until(self, call: Callable[[Engine], Awaitable[T]]) -> T:
        return await get_through(self._cluster, self._random, call)


def _places(events: Sequence[Recorded]) -> set[str]:
    """Operations that a run can be rewound to. The numbering of a listener depends on how messages arrived."""
    opened = {event.data["at"] for event in events if event.type == "op.opened"}
    return {at for at in opened if "/" not in at and "." not in at}


def _wanted(root: Root) -> Iterator[tuple[list[str], int]]:
    """The names of messages that a run listens for, and how often."""
    for node, times, in_child in walk(root.plan):
        if in_child or node.name == "never":
            continue
        if isinstance(node, Contest):
            yield [f"{node.name}.{part}" for part in ("x", "y", "go")], times
        elif isinstance(node, Listen) and node.timeout is None:
            yield [node.name], node.count * times


@contextmanager
def reached(*codes: str) -> Generator[None]:
    """An attempt that seemed to fail may have reached the run, or another was faster; then it is refused."""
    try:
        yield
    except (Conflict, InvalidInput) as error:
        if error.code not in codes:
            raise


async def get_through(cluster: Cluster, random: Random, call: Callable[[Engine], Awaitable[T]]) -> T:
    """Retries on any live engine, with growing delays, until one has answered."""
    pause = 0.5
    while True:
        engines = await cluster.one_alive()
        try:
            return await call(random.choice(engines))
        except Unavailable:
            await cluster.clock.sleep(pause)
            pause = min(2 * pause, _PATIENCE)


async def decide_everything(cluster: Cluster) -> None:
    """Plays the people: decides each approval without a deadline; the others are left to time out."""
    random = Random(f"people {cluster.scenario.seed}")
    while True:
        await cluster.approvals.wait()
        cluster.approvals.clear()
        await cluster.clock.sleep(random.choice((0.0, 3.0)))
        for approval in await get_through(cluster, random, lambda engine: engine.approvals.list(limit=MANY)):
            if approval.deadline is None:
                for name in PEOPLE[: approval.required]:
                    await _vote(cluster, random, approval.id, name)


async def _vote(cluster: Cluster, random: Random, id: str, by: str) -> None:
    """Retries until the vote is counted: before the escalation it may be refused, and before an owner has processed it
    nobody can tell."""
    while True:
        try:
            found = await get_through(cluster, random, lambda engine: engine.approvals.decide(id, "approve", by=by))
        except Conflict:  # decided, or its run has ended or is compensating
            return
        except Forbidden:
            found = None
        if found is not None and (found.status != "open" or any(vote.by == by for vote in found.votes)):
            return
        await cluster.clock.sleep(1)


def stale_result(cluster: Cluster, storm: Storm) -> None:
    """A worker that was presumed dead reports an attempt that is long over."""
    world = cluster.world
    attempts = [
        (entry.run_id, entry.path, entry.attempt)
        for entry in world.ledger
        if not entry.undo and entry.run_id not in world.repaired
    ]
    report_stale(cluster, storm, attempts, {"done": "by a zombie"})
