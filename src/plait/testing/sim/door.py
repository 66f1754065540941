"""One engine's access to the store that all of them share: through a door that may be slow, stuck or shut."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Protocol, TypeVar

from plait.kernel.approval import Approval, ApprovalFilter
from plait.kernel.census import Census, Owner, Standing
from plait.kernel.errors import Unavailable
from plait.kernel.fleet import Fleet
from plait.kernel.ids import Millis, RunId, Seq, Shard
from plait.kernel.kernel import Kernel
from plait.kernel.leases import Lease
from plait.kernel.queued import TaskQueues
from plait.kernel.removal import Removals
from plait.kernel.run_queues import RunQueues
from plait.kernel.store import (
    DeadLetter,
    DeadLetterStatus,
    InboxRow,
    Line,
    LogRow,
    Record,
    RunFilter,
    RunRow,
    Snapshot,
    Taken,
    TimerRow,
    Verdict,
    Write,
)
from plait.stores.memory import MemoryStore, Moment

from .event_loop import ROUND
from .queue_door import QueueDoor

T = TypeVar("T")

_FIRST = Seq(0)


class Trouble(Protocol):
    """What may go wrong at a door."""

    def delay(self) -> int:
        """Rounds of the event loop that a call takes."""
        ...

    def reading(self, door: Door) -> None:
        """Called before and after each call except commits; raises `Unavailable`."""
        ...

    def committing(self, door: Door, moment: Moment, writes: Sequence[Write]) -> None:
        """Called at each moment of a commit; raises `Unavailable` or a crash."""
        ...

    def judged(self, verdicts: list[Verdict]) -> None:
        """Sees the verdicts of a commit."""
        ...

    def due(self, door: Door, rows: list[TimerRow]) -> None:
        """Sees the timers that an engine is about to fire."""
        ...


class Calm:
    """Nothing goes wrong."""

    def delay(self) -> int:
        return 0

    def reading(self, door: Door) -> None: ...

    def committing(self, door: Door, moment: Moment, writes: Sequence[Write]) -> None: ...

    def judged(self, verdicts: list[Verdict]) -> None: ...

    def due(self, door: Door, rows: list[TimerRow]) -> None: ...


class Door:
    """A `Store`. Commits of one engine are announced to the others, as with PostgreSQL's NOTIFY."""

    def __init__(
        self, store: MemoryStore, trouble: Trouble, others: list[Door], noticed: Callable[[Sequence[Write]], None]
    ) -> None:
        self._store = store
        self._trouble = trouble
        self._others = others
        self._noticed = noticed
        self.run_queues: RunQueues = QueueDoor(store.run_queues, self._read, self._tell_others)
        self._callback: Callable[[], None] | None = None
        self.kernel: Kernel | None = None
        """The engine behind it, once it exists."""
        self.shut = False
        """Cut off from the store: every call fails."""
        self.deaf = False
        """Every call except commits fails: its leases expire, and it does not know."""

    @property
    def fleet(self) -> Fleet | None:
        return self._store.fleet

    @property
    def commits_elsewhere(self) -> bool:
        return self._store.commits_elsewhere

    @property
    def queues(self) -> TaskQueues:
        """Workers have a door of their own, which is always open."""
        return self._store.queues

    @property
    def removals(self) -> Removals:
        return self._store.removals

    @property
    def open_wide(self) -> bool:
        return not (self.shut or self.deaf)

    async def open(self) -> None:
        self._others.append(self)

    async def close(self) -> None:
        self.leave()

    def leave(self) -> None:
        """Closes the door: its engine is gone."""
        self._callback = None
        if self in self._others:
            self._others.remove(self)

    def watch(self, callback: Callable[[], None], shown: Callable[[], None] | None = None) -> None:
        self._callback = callback

    async def commit(self, writes: Sequence[Write]) -> list[Verdict]:
        await self._pass(committing=True)
        self._store.faults = self._committing
        try:
            verdicts = await self._store.commit(writes)
            self._trouble.judged(verdicts)
        finally:
            self._store.faults = None
            self._tell_others()
            self._noticed(writes)
        await self._pass(committing=True)
        return verdicts

    def _committing(self, moment: Moment, writes: Sequence[Write]) -> None:
        self._trouble.committing(self, moment, writes)

    def _tell_others(self) -> None:
        for other in self._others:
            if other is not self and other._callback is not None:
                asyncio.get_running_loop().call_soon(other.hear)

    def hear(self) -> None:
        """Another engine may have written something."""
        if self._callback is not None and self.open_wide:
            self._callback()

    async def _pass(self, *, committing: bool = False) -> None:
        if self.shut or (self.deaf and not committing):
            raise Unavailable("store.unreachable", "the store can't be reached")
        for _ in range(self._trouble.delay()):
            await ROUND

    async def _read(self, call: Awaitable[T]) -> T:
        try:
            await self._pass()
            self._trouble.reading(self)
        except BaseException:
            call.close()  # type: ignore[attr-defined]
            raise
        found = await call
        await self._pass()
        self._trouble.reading(self)
        return found

    async def claim(self, owner: str, ttl: Millis, want: int) -> list[Lease]:
        return await self._read(self._store.claim(owner, ttl, want))

    async def renew(self, owner: str, ttl: Millis) -> Standing:
        return await self._read(self._store.renew(owner, ttl))

    async def release(self, owner: str, shards: Collection[Shard] | None = None) -> None:
        await self._read(self._store.release(owner, shards))
        self._tell_others()

    async def recovering(self, shards: Collection[Shard]) -> list[RunRow]:
        return await self._read(self._store.recovering(shards))

    async def inbox(self, shards: Collection[Shard], limit: int) -> list[InboxRow]:
        return await self._read(self._store.inbox(shards, limit))

    async def due(self, shards: Collection[Shard], now: Millis, limit: int) -> list[TimerRow]:
        rows = await self._read(self._store.due(shards, now, limit))
        self._trouble.due(self, rows)
        return rows

    async def next_due(self, shards: Collection[Shard], after: Millis = Millis(0)) -> Millis | None:
        return await self._read(self._store.next_due(shards, after))

    async def run(self, run_id: RunId) -> RunRow | None:
        return await self._read(self._store.run(run_id))

    async def runs(self, query: RunFilter) -> list[RunRow]:
        return await self._read(self._store.runs(query))

    async def log(
        self, run_id: RunId, after: Seq = _FIRST, upto: Seq | None = None, limit: int | None = None
    ) -> list[LogRow]:
        return await self._read(self._store.log(run_id, after, upto, limit))

    async def heads(self, run_ids: Collection[RunId]) -> dict[RunId, Seq]:
        return await self._read(self._store.heads(run_ids))

    async def snapshot(self, run_id: RunId) -> Snapshot | None:
        return await self._read(self._store.snapshot(run_id))

    async def blob(self, digest: str) -> bytes:
        return await self._read(self._store.blob(digest))

    async def reply(self, run_id: RunId, key: str) -> Taken | None:
        return await self._read(self._store.reply(run_id, key))

    async def integrity(self) -> list[str]:
        return await self._read(self._store.integrity())

    async def approval(self, id: str) -> Approval | None:
        return await self._read(self._store.approval(id))

    async def approvals(self, query: ApprovalFilter) -> list[Approval]:
        return await self._read(self._store.approvals(query))

    async def dead_letter(self, id: str) -> DeadLetter | None:
        return await self._read(self._store.dead_letter(id))

    async def dead_letters(
        self,
        namespace: str | None,
        run_id: RunId | None = None,
        status: DeadLetterStatus | None = None,
        after: tuple[Millis, str] | None = None,
        limit: int | None = None,
    ) -> list[DeadLetter]:
        return await self._read(self._store.dead_letters(namespace, run_id, status, after, limit))

    async def lines(self, run_id: RunId, node: str | None, after: int, limit: int) -> list[Line]:
        return await self._read(self._store.lines(run_id, node, after, limit))

    async def record(self, kind: str, namespace: str, id: str) -> Record | None:
        return await self._read(self._store.record(kind, namespace, id))

    async def records_named(self, kind: str, names: Sequence[tuple[str, str]]) -> list[Record]:
        return await self._read(self._store.records_named(kind, names))

    async def records(
        self, kind: str, namespace: str | None, after: str | None, limit: int, *, newest: bool = False
    ) -> list[Record]:
        return await self._read(self._store.records(kind, namespace, after, limit, newest=newest))

    async def census(self) -> Census:
        return await self._read(self._store.census())

    async def stalled(self, before: Millis, namespace: str | None, limit: int) -> list[RunId]:
        return await self._read(self._store.stalled(before, namespace, limit))

    async def namespaces(self) -> list[str]:
        return await self._read(self._store.namespaces())

    async def owners(self) -> list[Owner]:
        return await self._read(self._store.owners())

    async def facts(self) -> dict[str, str]:
        return await self._read(self._store.facts())

    async def scrub(self) -> None:
        await self._read(self._store.scrub())
