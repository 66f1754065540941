"""The store of an embedded run: the kernel's in-memory store, and a driver that persists what it commits.

The kernel needs leases, an inbox and timers; for a single run none of them has to be durable. They live in memory
during a pass, and each commit is first a batch of the driver. If that fails, or the run is evicted, the pass is over:
the commit is never acknowledged, as if the process had died.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from msgspec import Raw

from plait.dialects.code.events import CodeEvent
from plait.kernel.clock import Clock
from plait.kernel.events import KernelEvent
from plait.kernel.ids import RunId, Seq, shard_of
from plait.kernel.snapshots import Base, SnapshotBody
from plait.kernel.store import COMPACTED, LogRow, RunRow, Snapshot, TimerRow, Verdict, Write
from plait.kernel.values import plain
from plait.stores.memory import MemoryStore

from .driver import Driver
from .keys import RUN, Field, pack
from .mirror import Mirror, State

Standing = Literal["moving", "parked", "ended", "blocked", "evicted"]
EVICTED = pack(RUN, Field.EVICTED)

_events: msgspec.json.Decoder[list[Any]] = msgspec.json.Decoder(list[CodeEvent | KernelEvent])


class KvStore(MemoryStore):
    def __init__(self, run_id: RunId, workflow_id: str, mirror: Mirror, driver: Driver, clock: Clock) -> None:
        super().__init__(clock=clock)
        self._run_id = run_id
        self._workflow_id = workflow_id
        self._mirror = mirror
        self._driver = driver
        self.standing: Standing = "moving" if mirror.state.status == "running" else "ended"
        self.failure: BaseException | None = None
        self.changed = asyncio.Event()
        """Set when something happens that may end a pass."""

    async def place(self, row: RunRow) -> None:
        """Makes the run that the driver has stored available to the kernel."""
        mirror, shard = self._mirror, shard_of(self._run_id)
        seq, at = mirror.state.seq, mirror.state.at
        machine, kernel = mirror.history.snapshot(), mirror.state.dump()
        base = Base(Seq(seq), at, kernel, Raw(machine))
        body = SnapshotBody(kernel, machine, (base,), seq)
        timers = [TimerRow(self._run_id, shard, token, due) for token, due in mirror.timers().items()]
        write = Write(self._run_id, shard, None, create=row, timers=timers)
        write.copies = [LogRow(Seq(1), seq, at, COMPACTED)]
        write.snapshot = Snapshot(Seq(seq), at, plain(body))
        await super().commit([write])

    async def commit(self, writes: Sequence[Write]) -> list[Verdict]:
        for write in writes:
            if write.run_id == self._run_id and write.epoch is not None:
                await self._keep(write)
        verdicts = await super().commit(writes)
        if self.standing != "moving":
            self.changed.set()
        return verdicts

    async def _keep(self, write: Write) -> None:
        self._look(write)
        try:
            await self._batch(write)
        except BaseException as error:
            self.failure = error
        if self.failure is not None or self.standing == "evicted":
            self.changed.set()
            await asyncio.Event().wait()  # until the pass ends and stops the kernel

    def _look(self, write: Write) -> None:
        """Derives the run's standing from a write."""
        patch, create = write.patch, write.create
        if patch is not None and patch.blocked is not None:
            self.standing = "blocked"
        elif patch is not None and patch.status != "running":
            self.standing = "ended"
        elif patch is not None or create is not None:
            awake = patch.awake if patch is not None else create is None or create.awake
            self.standing = "moving" if awake else "parked"

    async def _batch(self, write: Write) -> None:
        mirror, driver = self._mirror, self._driver
        events = [] if write.log is None else _events.decode(write.log.events)
        touched = mirror.fold(events, mirror.state.at if write.log is None else write.log.at)
        changes = mirror.changes(touched, self._state()) if events else mirror.state_changes(self._state())
        due = min(mirror.timers().values(), default=None)
        if self.standing == "parked" and due is not None:
            await driver.set_alarm(self._workflow_id, due)
        if changes:
            await driver.batch(changes)
            if await driver.get(EVICTED) is not None:
                self.standing = "evicted"
        if self.standing == "ended" or (self.standing == "parked" and due is None):
            await driver.clear_alarm(self._workflow_id)

    def _state(self) -> State:
        state = self._mirror.state
        if state.status != "running":
            return state.status
        if state.rolling_back:
            return "rolling_back"
        return "sleeping" if self.standing == "parked" else "running"
