"""What must be true of every `refs` run, whatever happened on the way."""

from __future__ import annotations

from collections import defaultdict

from plait.dialects.refs.running.compensation_tokens import COMPENSATE
from plait.dialects.refs.running.state import work_id
from plait.kernel.store import RunFilter, RunRow
from plait.testing.history import History
from plait.testing.sim.cluster import BrokenPromise, Cluster
from plait.testing.sim.comparison import Comparison

from .scenario import FORK, RefsRoot, RefsScenario
from .step_book import StepBook
from .world import RefsWorld


class RefsInspector:
    def __init__(self, cluster: Cluster, world: RefsWorld, scenario: RefsScenario) -> None:
        self._world = world
        self._store = cluster.store
        self._logs = cluster.logs
        self._in_storm = cluster.storm is not None
        self._roots = {root.id: root for root in scenario.roots}
        self._comparison = Comparison(cluster)
        self.at_rest = self._comparison.at_rest

    async def at_the_end(self) -> None:
        self._check_keys()
        if self._world.complaints:
            raise BrokenPromise("; ".join(self._world.complaints))
        for row in await self._store.runs(RunFilter(limit=1000)):
            events = await self._logs.events(row.id)
            if not events.ended or row.status == "running" or row.awake or row.blocked is not None:
                raise BrokenPromise(f"{row.id} has not ended properly: {row}\n{events}")
            if (root := self._roots.get(row.id.removesuffix(FORK))) is not None:
                _check_log(row, events, root)
                self._check_work(row, events, root)
            await self._comparison.ended(row)
        await self._comparison.check_leftovers()

    def _check_keys(self) -> None:
        """Compensated work is never done again under the same key."""
        if self._in_storm:  # an engine that was cut off may begin work that was compensated elsewhere
            return
        undone: set[tuple[str, str]] = set()
        for entry in self._world.ledger:
            place = (entry.run_id, entry.key.replace(COMPENSATE, ""))
            if entry.undo:
                undone.add(place)
            elif place in undone:
                raise BrokenPromise(f"{entry.run_id}: `{entry.id}` was done again under the key of what was undone")

    def _check_work(self, row: RunRow, events: History, root: RefsRoot) -> None:
        """Work with a result was done, in the recorded attempt, under a key that changes only with a retry."""
        entries = [entry for entry in self._world.ledger if entry.run_id in (row.id, row.id.removesuffix(FORK))]
        done = {(entry.id, entry.attempt) for entry in entries if not entry.undo}
        functions = {step["name"] for step in root.definition["steps"] if "function" in step["action"]}
        loops = {data["step"] for data in events.of("foreach.opened")}
        for data in events.of("step.completed"):
            whole = data["step"] in loops and data.get("index") is None
            if data["step"] not in functions or data.get("preset") or whole:
                continue
            place = (work_id(data["step"], data.get("index")), data.get("attempts", 1))
            if place not in done:
                raise BrokenPromise(f"{row.id}: {place} has a result, but never ran\n{events}")
        keys: dict[tuple[str, str, bool], set[str]] = defaultdict(set)
        for entry in entries:
            keys[entry.run_id, entry.id, entry.undo].add(entry.key)
        generations = 1 + len(events.of("refs.resumed"))
        several = {place: found for place, found in keys.items() if len(found) > generations}
        if several:
            raise BrokenPromise(f"{row.id}: the attempts of one step had several keys: {several}")


def _check_log(row: RunRow, events: History, root: RefsRoot) -> None:
    book = StepBook({step["name"] for step in root.definition["steps"] if "compensate" in step})
    for event in events:
        if trouble := book.take(event):
            raise BrokenPromise(f"{row.id}: event {event.seq}: {trouble}\n{events}")
    failed = row.status == "failed" or root.ending == "is cancelled and undone"
    if failed and book.owed:
        raise BrokenPromise(f"{row.id} ended without undoing {book.owed}\n{events}")
    if row.status == "completed" and book.undone:
        raise BrokenPromise(f"{row.id} completed, but {book.undone} were undone and not done again\n{events}")
    if root.ending in ("completes", "is cancelled", "is patched") and events.of("rollback.started"):
        raise BrokenPromise(f"{row.id} was undone\n{events}")
