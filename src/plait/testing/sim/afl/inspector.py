"""What must be true of every run of a program, whatever happened on the way."""

from __future__ import annotations

from collections import defaultdict

from plait.kernel.ids import caller_id
from plait.kernel.store import RunFilter, RunRow
from plait.testing.history import History
from plait.testing.sim.cluster import BrokenPromise, Cluster
from plait.testing.sim.comparison import Comparison

from .drawing import DEED, REMOTE, WORK
from .event_book import EventBook
from .scenario import FORK, AflRoot, AflScenario
from .world import AflWorld

_UNDONE = ("is cancelled and undone", "fails and is undone", "completes and is undone")


class AflInspector:
    def __init__(self, cluster: Cluster, world: AflWorld, scenario: AflScenario) -> None:
        self._world = world
        self._store = cluster.store
        self._logs = cluster.logs
        self._roots = {root.id: root for root in scenario.roots}
        self._comparison = Comparison(cluster)
        self.at_rest = self._comparison.at_rest

    async def at_the_end(self) -> None:
        if self._world.complaints:
            raise BrokenPromise("; ".join(self._world.complaints))
        for row in await self._store.runs(RunFilter(limit=1000)):
            events = await self._logs.events(row.id)
            if not events.ended or row.status == "running" or row.awake or row.blocked is not None:
                raise BrokenPromise(f"{row.id} has not ended properly: {row}\n{events}")
            if held := await self._store.queues.held(row.id):
                raise BrokenPromise(f"{row.id} has ended, but there is still work for agents: {held}\n{events}")
            if row.dialect == "afl":
                self._check_work(row, events, _checked(row, events))
            await self._comparison.ended(row)
        await self._comparison.check_leftovers()

    def _check_work(self, row: RunRow, events: History, book: EventBook) -> None:
        """Work with a result was done, under one key; work to compensate was compensated, newest first."""
        entries = [entry for entry in self._world.ledger if entry.run_id in (row.id, row.id.removesuffix(FORK))]
        ran = {(entry.event, entry.attempt) for entry in entries if not entry.undo}
        facets = {id: facet for facet, id in book.done}
        for data in events.of("afl.event.completed"):
            place = (data["event_id"], data["attempt"])
            if facets[place[0]] in (WORK, DEED, REMOTE) and not data.get("message") and place not in ran:
                raise BrokenPromise(f"{row.id}: {place} has a result, but never ran\n{events}")
        keys: dict[tuple[str, str, bool], set[str]] = defaultdict(set)
        for entry in entries:
            keys[entry.run_id, entry.event, entry.undo].add(entry.key)
        several = {place: found for place, found in keys.items() if len(found) > 1}
        if several:
            raise BrokenPromise(f"{row.id}: the attempts of one event had several keys: {several}")
        root = self._roots.get(caller_id(row.id))
        if root is not None:
            self._check_undone(row, events, root, book)

    def _check_undone(self, row: RunRow, events: History, root: AflRoot, book: EventBook) -> None:
        owed = [id for facet, id in book.done if facet == DEED] if root.ending in _UNDONE else []
        entries = [entry.event for entry in self._world.ledger if entry.undo and entry.run_id == row.id]
        undone = list(dict.fromkeys(entries))
        if undone != owed[::-1]:
            raise BrokenPromise(f"{row.id}: events were done as {owed} and undone as {undone}\n{events}")


def _checked(row: RunRow, events: History) -> EventBook:
    book = EventBook()
    for event in events:
        if trouble := book.take(event):
            raise BrokenPromise(f"{row.id}: event {event.seq}: {trouble}\n{events}")
    if left := book.left():
        raise BrokenPromise(f"{row.id} has ended, but {left} have not\n{events}")
    return book
