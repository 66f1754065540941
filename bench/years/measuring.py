"""What is measured in a database: works, lists and searches, and what engines and operators ask of it."""

from __future__ import annotations

import asyncio
import math
import statistics
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import asyncpg

from bench.lists.__main__ import queries
from bench.subjects.plait_engine import sequential
from bench.years.server_time import ServerTime
from plait import Engine
from plait.engine.fleet_overview import fleet_overview
from plait.engine.stalled import how_many
from plait.kernel.errors import Unavailable
from plait.kernel.ids import SHARDS, Millis, Shard
from plait.kernel.removal import EndedQuery
from plait.kernel.store import RunFilter

SAMPLES = 15
_SLOW = 2_000
"""Milliseconds of a call that is not repeated so often."""
W1_RUNS, W1_STEPS, W3_RUNS = 200, 10, 1_000
FARTHEST = Millis(2**52)


@dataclass(frozen=True, slots=True)
class Taken:
    """By one call, or by a thousand steps or runs of a work."""

    wall: float
    """Milliseconds."""
    server: float | None
    """Milliseconds of the server's processor; None if it is on another machine."""
    own: float = 0.0
    """And of this process."""

    @property
    def work(self) -> float | None:
        return None if self.server is None else self.server + self.own


class Database:
    """One of those that are compared."""

    def __init__(self, url: str, runs: int) -> None:
        self.url = url
        self.runs = runs

    async def __aenter__(self) -> Database:
        self._connection: asyncpg.Connection[Any] = await asyncpg.connect(self.url)
        self._time = ServerTime(self._connection)
        self.engine = Engine(self.url, definitions=[sequential])
        began = time.perf_counter()
        await self.engine.__aenter__()
        self.started = (time.perf_counter() - began) * 1000
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.engine.__aexit__(None, None, None)
        await self._connection.close()

    async def work(self, runs: int, steps: int) -> Taken:
        """Of each thousand steps."""
        per = 1_000 / (runs * steps)
        return await self._timed(lambda: self._runs(runs, steps), per)

    async def _runs(self, runs: int, steps: int) -> None:
        handles = await asyncio.gather(*(self.engine.start(sequential, steps) for _ in range(runs)))
        await asyncio.gather(*(handle.result() for handle in handles))

    async def asked(self, call: Callable[[], Awaitable[object]]) -> Taken:
        """Of one call, the median of several."""
        samples = SAMPLES if await self._once(call) < _SLOW else 1
        before = await self._time.milliseconds()
        walls = [await self._once(call) for _ in range(samples)]
        after = await self._time.milliseconds()
        server = None if before is None or after is None else (after - before) / samples
        return Taken(statistics.median(walls), server)

    async def _once(self, call: Callable[[], Awaitable[object]]) -> float:
        """Infinite if the store gave up."""
        began = time.perf_counter()
        try:
            await call()
        except Unavailable:
            return math.inf
        return (time.perf_counter() - began) * 1000

    async def _timed(self, call: Callable[[], Awaitable[object]], per: float) -> Taken:
        before, began, own = await self._time.milliseconds(), time.perf_counter(), time.process_time()
        await call()
        wall, own = (time.perf_counter() - began) * 1000, (time.process_time() - own) * 1000
        after = await self._time.milliseconds()
        return Taken(wall * per, None if before is None or after is None else (after - before) * per, own * per)

    def calls(self) -> dict[str, Callable[[], Awaitable[object]]]:
        lists = {name: self._list(query) for name, query in all_queries(self.runs).items()}
        return {**lists, **self._upkeep()}

    def _list(self, query: dict[str, Any]) -> Callable[[], Awaitable[object]]:
        return lambda: self.engine.runs(RunFilter(namespace="default", limit=51, **query))

    def _upkeep(self) -> dict[str, Callable[[], Awaitable[object]]]:
        kernel = self.engine.kernel
        due = EndedQuery(
            namespace="default",
            dialect="code",
            status="completed",
            before=FARTHEST,
            shards=[Shard(shard) for shard in range(SHARDS)],
        )
        return {
            "list: the first page of a live list": self._live,
            "list: one run": lambda: self.engine.get(f"order-{self.runs // 2 + 1}"),
            "list: namespaces": self.engine.namespaces,
            "upkeep: what retention removes next": lambda: kernel.store.removals.ended(due),
            "upkeep: counts for /metrics": kernel.store.census,
            "upkeep: runs that nothing will move": lambda: how_many(kernel),
            "upkeep: the overview": lambda: fleet_overview(kernel, self.engine.drains),
            "upkeep: facts for `plait doctor`": kernel.store.facts,
        }

    async def _live(self) -> None:
        following = self.engine.follow_runs(RunFilter(namespace="default", limit=50))
        async for _ in following:
            return


def all_queries(runs: int) -> dict[str, dict[str, Any]]:
    middle = runs // 2 + 1
    return {
        **queries(runs),
        "list: a label that few have, failed": {"labels": {"customer": "customer-53"}, "status": "failed"},
        "list: two labels": {"labels": {"customer": "customer-77", "env": "prod"}},
        "list: a label and a definition": {"labels": {"env": "prod"}, "definition": "definition_4"},
        "list: the last page": {"until": 1_700_000_000_100},
        "search: the beginning of a generated id": {"text": f"01999999-0000-7000-8000-{runs // 2 * 2:012x}"[:-2]},
        "search: an error of one run": {"text": f"card {middle // 50 * 50 + 3} was"},
        "search: an error, of one definition": {"text": "declined by bank 3", "definition": "definition_3"},
        "search: a text that a thousandth has": {"text": "customer-77"},
        "search: a definition's name": {"text": "definition_4"},
        "search: many have it, none of the failed": {"text": "definition_5", "status": "failed"},
    }
