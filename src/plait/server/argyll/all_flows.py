"""Follows every flow of the namespace: those in progress, those that start later, and those that other runs start."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import msgspec

from plait.kernel.ids import Millis, RunId, caller_id
from plait.kernel.store import RunFilter, RunRow
from plait.registry.engine import Engine

from .following import Tell, follow_flow
from .route import NAMESPACE

_PAGE = 500
_PAUSE = 0.25
"""Minimum seconds between two polls of the newest flows, however much happens."""
_ROUND = 5.0
"""Seconds between two polls of all flows in progress, and the maximum without any poll."""
_SKEW = 60_000
"""Milliseconds of clock skew to allow for: a flow created on another machine may seem older than it is."""
_REMEMBERED = 2_000
"""Maximum number of ended flows that are still polled: they may be reopened or get a late result."""


class AllFlows:
    def __init__(self, engine: Engine, tell: Tell) -> None:
        self._engine = engine
        self._tell = tell
        self._places: dict[RunId, int] = {}
        """The number of the last event sent, for flows that are not followed now; the last to move comes last."""
        self._followed: set[RunId] = set()
        self._since = Millis(0)
        """For flows without a place, events before this time are not sent."""
        self._looked = Millis(0)
        self._went_round = 0.0

    async def begin(self) -> list[str]:
        """Starts here: earlier events are not sent. Returns the flows in progress."""
        self._since = self._looked = self._engine.kernel.clock.now()
        pending_effects = await self._rows(RunFilter(status="running"))
        newest = await self._rows(RunFilter(), _REMEMBERED)
        rows = [*reversed(newest | await self._newest() | pending_effects)]
        self._places = dict.fromkeys(rows, 0) | await self._heads(rows)
        self._followed = set(pending_effects)
        return [caller_id(run_id) for run_id in pending_effects]

    def go_on_from(self, places: dict[RunId, int]) -> None:
        """Sets the places of flows whose state the client already has."""
        self._places |= places

    async def run(self, group: asyncio.TaskGroup) -> None:
        for run_id in list(self._followed):
            group.create_task(self._follow(run_id))
        with self._engine.kernel.subscriptions.runs() as bell:
            while True:
                bell.clear()
                self._engine.kernel.must_live()
                for run_id in await self._look():
                    self._followed.add(run_id)
                    group.create_task(self._follow(run_id))
                await asyncio.sleep(_PAUSE)
                with suppress(TimeoutError):
                    await asyncio.wait_for(bell.wait(), _ROUND)

    async def _look(self) -> list[RunId]:
        """Returns the flows to start following: new ones, those in progress, and those that moved after their end."""
        found = await self._newest()
        now = asyncio.get_running_loop().time()
        if now - self._went_round >= _ROUND:
            self._went_round = now
            found |= await self._rows(RunFilter(status="running"))
        fresh = {run_id for run_id in found if run_id not in self._places}
        heads = await self._heads(list(self._places))
        moved = {run_id for run_id, head in heads.items() if head > self._places.get(run_id, head)}
        return [run_id for run_id in (fresh | moved) if run_id not in self._followed]

    async def _follow(self, run_id: RunId) -> None:
        place = self._places.pop(run_id, None)
        since = self._since if place is None else 0
        self._places[run_id] = await follow_flow(
            self._engine, run_id, place or 0, self._tell, since=since, to_the_end=True
        )
        self._followed.discard(run_id)
        if len(self._places) > 2 * _REMEMBERED:
            self._forget()

    def _forget(self) -> None:
        """Drops the flows that have not moved for the longest time; all their events so far have been sent."""
        for run_id in list(self._places)[:_REMEMBERED]:
            del self._places[run_id]
        self._since = self._engine.kernel.clock.now()

    async def _newest(self) -> dict[RunId, RunRow]:
        since, self._looked = Millis(self._looked - _SKEW), self._engine.kernel.clock.now()
        return await self._rows(RunFilter(since=since))

    async def _heads(self, run_ids: list[RunId]) -> dict[RunId, int]:
        return {**await self._engine.kernel.store.heads(run_ids)}

    async def _rows(self, query: RunFilter, most: int | None = None) -> dict[RunId, RunRow]:
        """Returns the rows by id, newest first."""
        found: dict[RunId, RunRow] = {}
        query = msgspec.structs.replace(query, namespace=NAMESPACE, dialect="goals", limit=_PAGE)
        while most is None or len(found) < most:
            page = await self._engine.runs(query)
            found |= {row.id: row for row in page}
            if len(page) < _PAGE:
                break
            query = msgspec.structs.replace(query, after=(page[-1].created_at, page[-1].id))
        return found
