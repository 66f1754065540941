"""Compares memory with the store: for runs of any dialect, whenever nothing is in progress."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, cast

from plait.kernel import values
from plait.kernel.approval import ApprovalFilter
from plait.kernel.errors import Unavailable
from plait.kernel.ids import DEFAULT_NAMESPACE, SHARDS, Epoch, Millis, RunId, Shard
from plait.kernel.loader import Loader
from plait.kernel.run import Run
from plait.kernel.store import RunRow, Snapshot, Store
from plait.registry.engine import Engine
from plait.stores.memory import MemoryStore

from .cluster import BrokenPromise, Cluster, SimEngine

ALL_SHARDS = [Shard(number) for number in range(SHARDS)]
NEVER = Millis(2**53)
_UNOWNED = Epoch(0)


class WholeLog:
    """The store without its snapshots: state is folded from the first event on."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def snapshot(self, run_id: RunId) -> Snapshot | None:
        return None


_States = tuple[bytes, bytes]


class Comparison:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._store = cluster.store
        engine = SimEngine(cluster.dialects, store=cluster.store, definitions=cluster.definitions, clock=cluster.clock)
        cluster.furnish(engine)
        self._loader = engine.kernel.loader
        dialects = {name: self._loader.bundle(name) for name in engine.bundles}
        whole = cast("Store", WholeLog(cluster.store))
        self._from_start = Loader(whole, dialects, engine.kernel.ids, engine.kernel.limits)
        self._compared: dict[tuple[str, RunId], tuple[int, _States | None]] = {}
        """The state of each run that an engine had in memory at the last check, and the number of commits then."""

    async def at_rest(self) -> None:
        async for _ in self.rows_at_rest():
            pass

    async def rows_at_rest(self) -> AsyncIterator[RunRow]:
        """Compares the runs of each engine that may have changed; yields the ones it checked."""
        for engine in self._cluster.alive:
            if not engine.kernel.loop.idle:
                continue  # it waits for the store to come back
            for row in await self._cluster.running():
                if engine.kernel.owns(row.id) and not self._is_known(engine, row):
                    with suppress(Unavailable):  # a parked run is read from the store
                        live = engine.kernel.run_cache.get(row.id)
                        await self._compare_live(row, live or await engine.kernel.loader.load(row, _UNOWNED))
                    yield row

    def _is_known(self, engine: Engine, row: RunRow) -> bool:
        """Whether it was checked since the last commit and is unchanged in memory. Remembers its state."""
        key, live = (engine.kernel.owner, row.id), engine.kernel.run_cache.get(row.id)
        now = self._cluster.commits, _states(live) if live is not None and live.state.started else None
        before, self._compared[key] = self._compared.get(key), now
        return before == now

    async def _compare_live(self, row: RunRow, live: Run) -> None:
        if live.queued or not live.state.started:
            return  # its decision waits for a child to be resolved
        folded, whole = await self._folds(row)
        if live.state.seq < folded.state.seq and len(self._cluster.places) > 1:
            return  # another engine owns it now, and this one does not know yet
        self._check(row, live, "memory", folded, "the snapshot and the log after it")
        self._check(row, live, "memory", whole, "the whole log")

    async def ended(self, row: RunRow) -> Run:
        """A run that is in nobody's memory any more, folded from its log, from whichever point it is read."""
        folded, whole = await self._folds(row)
        self._check(row, folded, "the snapshot and the log after it", whole, "the whole log")
        return folded

    async def _folds(self, row: RunRow) -> tuple[Run, Run]:
        """The run folded from its snapshot and the events after it, and from all events; only one if there is no
        snapshot."""
        whole = await self._from_start.load(row, _UNOWNED)
        if await self._store.snapshot(row.id) is None:
            return whole, whole
        return await self._loader.load(row, _UNOWNED), whole

    def _check(self, row: RunRow, one: Run, here: str, other: Run, there: str) -> None:
        if one is other:
            return
        for found, expected in zip(_states(one), _states(other), strict=True):
            if found != expected:
                different = _difference(found, expected)
                raise BrokenPromise(f"{row.id} in {here} is not what {there} says:\n{different}")

    async def check_leftovers(self) -> None:
        """Called when all runs have ended."""
        left = {
            "timers": await self._store.due(ALL_SHARDS, NEVER, 100),
            "open approvals": await self._store.approvals(ApprovalFilter(namespace=DEFAULT_NAMESPACE)),
            "inputs nobody took": await self._store.inbox(ALL_SHARDS, 100),
        }
        found = {name: rows for name, rows in left.items() if rows}
        if found:
            raise BrokenPromise(f"all runs have ended, but there are still {found}")


def _states(run: Run) -> _States:
    """The state of the kernel, and that of the machine."""
    state = run.state
    kernel = {"seq": state.seq, "status": state.status, "final": state.final, "rollback": state.rollback}
    return values.plain(kernel), bytes(run.machine.snapshot())


def _difference(found: bytes, expected: bytes) -> str:
    """The parts that differ."""
    here: dict[str, Any] = values.decode(found)
    there: dict[str, Any] = values.decode(expected)
    return "\n".join(
        f"{key}:\n  {here.get(key)}\n  {there.get(key)}" for key in {**here, **there} if here.get(key) != there.get(key)
    )
