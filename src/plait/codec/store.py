"""`EncryptedStore`: a store around another one. Above it everything is plain, below it values are sealed.

Other processes may rotate keys and destroy those of subjects. When the inner store notifies of a write, one record that
changes with the keys is read, at most every `EVERY` seconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence

from plait.kernel.approval import Approval, ApprovalFilter
from plait.kernel.census import Census, Owner, Standing
from plait.kernel.clock import Clock
from plait.kernel.errors import Erased, Unavailable
from plait.kernel.ids import Millis, RunId, Seq, Shard
from plait.kernel.leases import Lease
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
    Store,
    Taken,
    TimerRow,
    Verdict,
    Write,
)

from .data_keys import DataKeys
from .key_records import CHANGED
from .key_ring import KeyRing
from .run_keys import RunKeys
from .seal_write import SealWrite
from .task_queues import EncryptedTaskQueues
from .unseal import Unseal

EVERY = 0.1
_FIRST = Seq(0)


class EncryptedStore:
    def __init__(self, store: Store, ring: KeyRing, clock: Clock) -> None:
        self.inner = store
        self.keys = DataKeys(ring, store, clock)
        self._run_keys = RunKeys(self.keys, store)
        self._seal = SealWrite(self._run_keys)
        self._unseal = Unseal(self.keys)
        self.removals = store.removals  # nothing to encrypt
        self.fleet = store.fleet
        self.commits_elsewhere = store.commits_elsewhere
        self.run_queues = store.run_queues  # nothing here either: the held-back start is in the inbox
        self.queues = EncryptedTaskQueues(store.queues, self._run_keys, self._unseal)
        self.keys_changed: Callable[[], None] = _nothing
        """Called when subjects may have been erased, here or in another process."""
        self._seen: bytes | None = None
        self._checking: asyncio.Task[None] | None = None
        self._news = False

    async def open(self) -> None:
        await self.inner.open()
        await self.keys.check_master()
        self._seen = await self._notice()

    async def close(self) -> None:
        if self._checking is not None:
            self._checking.cancel()
            await asyncio.gather(self._checking, return_exceptions=True)
            self._checking = None
        await self.inner.close()

    async def commit(self, writes: Sequence[Write]) -> list[Verdict]:
        """Commits sealed writes. A write for an erased run gets the verdict `conflict`, and reading the run again tells
        why. Only a new run of an erased subject raises here."""
        sealed: list[Write] = []
        refused: list[int] = []
        for index, write in enumerate(writes):
            try:
                sealed.append(await self._seal.sealed(write))
            except Erased:
                if write.create is not None:
                    raise
                refused.append(index)
        verdicts: list[Verdict] = await self.inner.commit(sealed) if sealed or not refused else []
        for index in refused:
            verdicts.insert(index, "conflict")
        for write, verdict in zip(writes, verdicts, strict=True):
            if write.create is not None and verdict == "ok":
                self._run_keys.remember(write.create)
            if write.removal is not None:
                self._run_keys.forget(write.run_id)
        return verdicts

    # -- ownership and timers: nothing to encrypt --------------------------------------------------------------------

    async def claim(self, owner: str, ttl: Millis, want: int) -> list[Lease]:
        return await self.inner.claim(owner, ttl, want)

    async def renew(self, owner: str, ttl: Millis) -> Standing:
        return await self.inner.renew(owner, ttl)

    async def release(self, owner: str, shards: Collection[Shard] | None = None) -> None:
        await self.inner.release(owner, shards)

    async def due(self, shards: Collection[Shard], now: Millis, limit: int) -> list[TimerRow]:
        return await self.inner.due(shards, now, limit)

    async def next_due(self, shards: Collection[Shard], after: Millis = Millis(0)) -> Millis | None:
        return await self.inner.next_due(shards, after)

    async def heads(self, run_ids: Collection[RunId]) -> dict[RunId, Seq]:
        return await self.inner.heads(run_ids)

    async def owners(self) -> list[Owner]:
        return await self.inner.owners()

    async def census(self) -> Census:
        return await self.inner.census()

    async def stalled(self, before: Millis, namespace: str | None, limit: int) -> list[RunId]:
        return await self.inner.stalled(before, namespace, limit)

    async def namespaces(self) -> list[str]:
        return await self.inner.namespaces()

    async def integrity(self) -> list[str]:
        return await self.inner.integrity()

    async def scrub(self) -> None:
        await self.inner.scrub()

    async def facts(self) -> dict[str, str]:
        return await self.inner.facts()

    # -- reading -----------------------------------------------------------------------------------------------------

    async def recovering(self, shards: Collection[Shard]) -> list[RunRow]:
        return [await self._run(row) for row in await self.inner.recovering(shards)]

    async def inbox(self, shards: Collection[Shard], limit: int) -> list[InboxRow]:
        return await self._unseal.inbox(await self.inner.inbox(shards, limit))

    async def run(self, run_id: RunId) -> RunRow | None:
        row = await self.inner.run(run_id)
        return None if row is None else await self._run(row)

    async def runs(self, query: RunFilter) -> list[RunRow]:
        return [await self._unseal.run(row) for row in await self.inner.runs(query)]

    async def log(
        self, run_id: RunId, after: Seq = _FIRST, upto: Seq | None = None, limit: int | None = None
    ) -> list[LogRow]:
        return await self._unseal.log(run_id, await self.inner.log(run_id, after, upto, limit))

    async def snapshot(self, run_id: RunId) -> Snapshot | None:
        found = await self.inner.snapshot(run_id)
        return None if found is None else await self._unseal.snapshot(run_id, found)

    async def blob(self, digest: str) -> bytes:
        return await self._unseal.blob(digest, await self.inner.blob(digest))

    async def reply(self, run_id: RunId, key: str) -> Taken | None:
        found = await self.inner.reply(run_id, key)
        return None if found is None else await self._unseal.reply(run_id, found)

    async def approval(self, id: str) -> Approval | None:
        found = await self.inner.approval(id)
        return None if found is None else await self._unseal.approval(found)

    async def approvals(self, query: ApprovalFilter) -> list[Approval]:
        return [await self._unseal.approval(found) for found in await self.inner.approvals(query)]

    async def dead_letter(self, id: str) -> DeadLetter | None:
        found = await self.inner.dead_letter(id)
        return None if found is None else await self._unseal.letter(found)

    async def dead_letters(
        self,
        namespace: str | None,
        run_id: RunId | None = None,
        status: DeadLetterStatus | None = None,
        after: tuple[Millis, str] | None = None,
        limit: int | None = None,
    ) -> list[DeadLetter]:
        found = await self.inner.dead_letters(namespace, run_id, status, after, limit)
        return [await self._unseal.letter(letter) for letter in found]

    async def lines(self, run_id: RunId, node: str | None, after: int, limit: int) -> list[Line]:
        return [await self._unseal.line(line) for line in await self.inner.lines(run_id, node, after, limit)]

    async def record(self, kind: str, namespace: str, id: str) -> Record | None:
        found = await self.inner.record(kind, namespace, id)
        return None if found is None else await self._unseal.record(found)

    async def records_named(self, kind: str, names: Sequence[tuple[str, str]]) -> list[Record]:
        return [await self._unseal.record(record) for record in await self.inner.records_named(kind, names)]

    async def records(
        self, kind: str, namespace: str | None, after: str | None, limit: int, *, newest: bool = False
    ) -> list[Record]:
        found = await self.inner.records(kind, namespace, after, limit, newest=newest)
        return [await self._unseal.record(record) for record in found]

    async def _run(self, row: RunRow) -> RunRow:
        """Unseals the row of a run that is likely to be written next, and caches its scope."""
        self._run_keys.remember(row)
        return await self._unseal.run(row)

    # -- what other processes do -------------------------------------------------------------------------------------

    def watch(self, callback: Callable[[], None], shown: Callable[[], None] | None = None) -> None:
        def news() -> None:
            callback()
            self._news = True
            if self._checking is None or self._checking.done():
                self._checking = asyncio.get_running_loop().create_task(self._check_keys(), name="plait.codec.check")

        self.inner.watch(news, shown)

    async def _check_keys(self) -> None:
        while self._news:
            await asyncio.sleep(EVERY)
            self._news = False
            try:
                found = await self._notice()
            except Unavailable:
                continue  # a notification follows when the store is back
            if found != self._seen:
                self._seen = found
                self.forget_keys()

    def forget_keys(self) -> None:
        self.keys.forget()
        self.keys_changed()

    async def _notice(self) -> bytes | None:
        found = await self.inner.record(*CHANGED)
        return None if found is None else bytes(found.body)


def _nothing() -> None:
    pass
