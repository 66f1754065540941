"""What must be true of every graph run, whatever happened on the way."""

from __future__ import annotations

from collections import defaultdict

from plait.kernel.store import RunFilter, RunRow
from plait.testing.history import History
from plait.testing.sim.cluster import BrokenPromise, Cluster
from plait.testing.sim.comparison import Comparison

from .scenario import FORK, GraphRoot, GraphScenario
from .world import Entry, GraphWorld

_COUNTED = ("node.consumed", "node.emitted", "token.discarded")


class GraphInspector:
    def __init__(self, cluster: Cluster, world: GraphWorld, scenario: GraphScenario) -> None:
        self._world = world
        self._store = cluster.store
        self._logs = cluster.logs
        self._roots = {root.id: root for root in scenario.roots}
        self._comparison = Comparison(cluster)
        self.at_rest = self._comparison.at_rest

    async def at_the_end(self) -> None:
        for row in await self._store.runs(RunFilter(limit=1000)):
            events = await self._logs.events(row.id)
            if not events.ended or row.status == "running" or row.awake or row.blocked is not None:
                raise BrokenPromise(f"{row.id} has not ended properly: {row}\n{events}")
            if (root := self._roots.get(row.id.removesuffix(FORK))) is not None:
                _check_counter(row, events)
                self._check_work(row, events, root)
            await self._comparison.ended(row)
        await self._comparison.check_leftovers()

    def _check_work(self, row: RunRow, events: History, root: GraphRoot) -> None:
        """Work with a result was done, under one key; work to compensate was compensated, newest first."""
        entries = [entry for entry in self._world.ledger if entry.run_id in (row.id, row.id.removesuffix(FORK))]
        done = {(entry.node, entry.token) for entry in entries if not entry.undo}
        tasks = [node["id"] for node in root.definition["nodes"] if node["type"] == "task"]
        results = [(data["node_id"], data["token_id"]) for data in events.of("node.consumed") if data.get("output")]
        for place in results:
            if place[0] in tasks and place not in done:
                raise BrokenPromise(f"{row.id}: {place} has a result, but never ran\n{events}")
        if row.id not in self._world.repaired:
            _check_keys(row, entries)
        undoable = {node["id"] for node in root.definition["nodes"] if "compensator" in node}
        undone = list(dict.fromkeys((entry.node, entry.token) for entry in entries if entry.undo))
        owed = [place for place in results if place[0] in undoable]
        if root.ending in ("is cancelled and undone", "fails and is undone") and undone != owed[::-1]:
            raise BrokenPromise(f"{row.id}: nodes were done as {owed} and undone as {undone}\n{events}")
        if root.ending in ("completes", "is cancelled", "is patched") and undone:
            raise BrokenPromise(f"{row.id}: {undone} were undone\n{events}")


def _check_keys(row: RunRow, entries: list[Entry]) -> None:
    keys: dict[tuple[str, str, str, bool], set[str]] = defaultdict(set)
    for entry in entries:
        keys[entry.run_id, entry.node, entry.token, entry.undo].add(entry.key)
    several = {place: found for place, found in keys.items() if len(found) > 1}
    if several:
        raise BrokenPromise(f"{row.id}: the attempts of one node had several keys: {several}")


def _check_counter(row: RunRow, events: History) -> None:
    """No event is missing, each change of the counter follows from the one before, and each is recorded once."""
    counter, seen = None, set[str]()
    for expected, event in enumerate(events, start=1):
        if event.seq != expected:
            raise BrokenPromise(f"{row.id}: event {expected} is missing\n{events}")
        if event.type not in _COUNTED:
            continue
        data = event.data
        if counter is not None and data["counter_before"] != counter:
            raise BrokenPromise(f"{row.id}: event {event.seq} counts from {data['counter_before']}, not {counter}")
        counter = data["counter_after"]
        for key in data.get("op_keys") or [data["op_key"]]:
            if key in seen:
                raise BrokenPromise(f"{row.id}: event {event.seq} was recorded twice\n{events}")
            seen.add(key)
    if row.status == "completed" and counter:
        raise BrokenPromise(f"{row.id} completed with {counter} tokens in flight\n{events}")
