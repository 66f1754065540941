"""What is in memory is what is on disk: for runs of any dialect, at any moment in which nothing moves."""

from __future__ import annotations

from contextlib import suppress
from typing import cast

from plait.kernel import values
from plait.kernel.approval import ApprovalFilter
from plait.kernel.errors import Unavailable
from plait.kernel.ids import DEFAULT_NAMESPACE, Epoch
from plait.kernel.loader import Loader
from plait.kernel.run import Run
from plait.kernel.store import RunFilter, RunRow, Store
from plait.registry.engine import Engine

from .cluster import BrokenPromise, Cluster
from .invariants import ALL_SHARDS, NEVER, WholeLog


class Comparison:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._store = cluster.store
        engine = Engine(store=cluster.store, definitions=cluster.definitions, clock=cluster.clock)
        cluster.furnish(engine)
        self.loader = engine.kernel.loader
        dialects = {name: self.loader.bundle(name) for name in engine.bundles}
        whole = cast("Store", WholeLog(cluster.store))
        self._from_start = Loader(whole, dialects, engine.kernel.ids, engine.kernel.limits)

    async def at_rest(self) -> None:
        for engine in self._cluster.alive:
            if not engine.kernel.loop.idle:
                continue  # it waits for its store to come back
            for row in await self._store.runs(RunFilter(status="running", limit=1000)):
                if engine.kernel.owns(row.id):
                    with suppress(Unavailable):  # a parked run is read from the store
                        live = await engine.kernel.peek(row)
                        if not live.queued:  # else what it has decided waits for a child to be found
                            await self.compare(row, live)

    async def compare(self, row: RunRow, live: Run) -> None:
        folded = await self.loader.load(row, Epoch(0))
        if not live.state.started:
            return
        if live.state.seq < folded.state.seq and len(self._cluster.places) > 1:
            return  # another engine owns it now, and this one does not know yet
        whole = await self._from_start.load(row, Epoch(0))
        for other, what in ((folded, "the snapshot and the log after it"), (whole, "the whole log")):
            if _state(live) != _state(other):
                raise BrokenPromise(f"{row.id} in memory is not what {what} says:\n{_state(live)}\n{_state(other)}")

    async def check_leftovers(self) -> None:
        """All runs have ended."""
        left = {
            "timers": await self._store.due(ALL_SHARDS, NEVER, 100),
            "open approvals": await self._store.approvals(ApprovalFilter(namespace=DEFAULT_NAMESPACE)),
            "inputs nobody took": await self._store.inbox(ALL_SHARDS, 100),
        }
        found = {name: rows for name, rows in left.items() if rows}
        if found:
            raise BrokenPromise(f"all runs have ended, but there are still {found}")


def _state(run: Run) -> tuple[str, str]:
    kernel = values.plain([run.state.seq, run.state.status, run.state.final, run.state.rollback])
    return kernel.decode(), bytes(run.machine.snapshot()).decode()
