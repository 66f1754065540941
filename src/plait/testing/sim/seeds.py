"""One seed, run twice: calm, and in a storm. Both must keep every promise and end alike."""

from __future__ import annotations

import hashlib
import logging
import traceback
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any, Protocol, TypeVar

from plait.kernel.admission import QueueSettings
from plait.kernel.events import Recorded
from plait.kernel.ids import DEFAULT_NAMESPACE
from plait.kernel.snapshot_policy import snapshots_every
from plait.kernel.store import RunFilter
from plait.kernel.values import plain
from plait.testing.history import History

from .client import Client, decide_everything, stale_result
from .cluster import BrokenPromise, Cluster
from .invariants import Inspector
from .scenario import LANE, Scenario, Weather, draw
from .storm import Storm

Logs = dict[str, list[Recorded]]


@dataclass(frozen=True, slots=True)
class SeedReport:
    seed: int
    failure: str | None
    scenario: object
    """Its text describes what was simulated."""
    trouble: list[str] = field(default_factory=list[str])
    runs: int = 0
    events: int = 0
    digest: str = ""
    """The digest of all logs: two simulations of one seed have the same."""
    recorded: Logs = field(default_factory=dict[str, list[Recorded]])
    dialect: str = "code"

    @property
    def logs(self) -> str:
        return "\n\n".join(f"log of {id}:\n{History(events)}" for id, events in sorted(self.recorded.items()))

    def __str__(self) -> str:
        if self.failure is None:
            return f"seed {self.seed}: {self.runs} runs, {self.events} events, {len(self.trouble)} troubles"
        trouble = "\n".join(f"  {what}" for what in self.trouble)
        replay = f"python -m plait.testing.sim --dialect {self.dialect} --seed {self.seed}"
        return f"{self.scenario}\n\ntrouble:\n{trouble}\n\n{self.logs}\n\nFAILED: {self.failure}\nreplay: {replay}\n"


Endings = dict[str, tuple[Any, ...]]


class Drawn(Protocol):
    """What a trial needs to know of its scenario."""

    @property
    def seed(self) -> int: ...
    @property
    def weather(self) -> Weather: ...
    @property
    def snapshot_every(self) -> int: ...


D = TypeVar("D", bound=Drawn)
Perform = Callable[[D, Storm | None, Logs], Awaitable[Endings]]
"""Performs a scenario, fills the logs, and returns how each run ended."""


async def simulate(seed: int) -> SeedReport:
    return await trial(draw(seed), _perform, "code")


async def trial(scenario: D, perform: Perform[D], dialect: str) -> SeedReport:
    """Performs a scenario calm and in its storm, and compares."""
    storm = Storm(scenario.seed, scenario.weather)
    logs: Logs = {}
    failure = None
    with snapshots_every(scenario.snapshot_every), quiet():
        try:
            calm = await perform(scenario, None, logs)
            logs = {}
            wild = await perform(scenario, storm, logs)
            for id, ending in calm.items():
                if wild[id] != ending:
                    raise BrokenPromise(f"{id} ends differently\n  calm: {ending}\n  in the storm: {wild[id]}")
        except Exception as error:
            failure = f"{type(error).__name__}: {error}"
            if not isinstance(error, BrokenPromise):  # then the place says more than the text
                failure += "\n" + "".join(traceback.format_tb(error.__traceback__))
    return SeedReport(
        scenario.seed,
        failure,
        scenario,
        storm.seen,
        len(logs),
        sum(map(len, logs.values())),
        digest_of(logs),
        logs,
        dialect,
    )


async def _perform(scenario: Scenario, storm: Storm | None, logs: Logs) -> Endings:
    cluster = Cluster(scenario, storm)
    inspector = Inspector(cluster, clock_is_set=bool(scenario.weather.clock))
    looking = Random(f"looking {scenario.seed}")
    clients = [Client(cluster, root, queued=scenario.queued) for root in scenario.roots]
    await cluster.open()
    await cluster.store.run_queues.change(DEFAULT_NAMESPACE, LANE, lambda _: QueueSettings(concurrency=1))

    async def look() -> None:
        if storm is not None and storm.strikes("echo"):
            stale_result(cluster, storm)
        if looking.random() < 0.05:
            await inspector.at_rest()

    async def done() -> bool:
        return all(task.done() for task in serving) and not await cluster.running()

    try:
        cluster.spawn(decide_everything(cluster))
        serving = [cluster.spawn(client.serve()) for client in clients]
        await cluster.drive(done, look)
        await cluster.calm_down()
        await inspector.at_the_end()
        return {client.root.id: await _ending(cluster, client) for client in clients}
    finally:
        logs.update(await cluster.logs.all())
        await cluster.close()


async def _ending(cluster: Cluster, client: Client) -> tuple[Any, ...]:
    [row] = [row for row in await cluster.store.runs(RunFilter(limit=1000)) if row.id == client.root.id]
    outputs = (await cluster.logs.events(row.id)).of("run.completed")
    error = None if row.error is None else (row.error.code, row.error.kind, row.error.type, row.error.message)
    return row.status, outputs[-1].get("output") if outputs else None, error, client.told


def digest_of(logs: dict[str, list[Recorded]]) -> str:
    return hashlib.sha256(plain(sorted(logs.items()))).hexdigest()[:16]


@contextmanager
def quiet() -> Generator[None]:
    """Silences the engine's log while trouble is made on purpose."""
    logger = logging.getLogger("plait")
    usual = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(usual)
