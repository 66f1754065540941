"""A view of a database as if one archived run were back in it, for everything that reads runs.

The run is read from its archived document, all else from the database. If the database is encrypted the document is
too, and is read with the database's keys: so an erasure covers it.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, cast

import msgspec

from plait.kernel.approval import Approval, ApprovalFilter
from plait.kernel.ids import Millis, RunId, Seq
from plait.kernel.store import DeadLetter, DeadLetterStatus, Line, LogRow, RunRow, Snapshot, Store
from plait.stores.archive.archive import Archive
from plait.stores.archive.archived_run import ArchivedRun, decode
from plait.stores.archive.names import folder_of

_FIRST = Seq(0)


async def with_archived(store: Store, archive: Archive, namespace: str, run_id: str) -> Store | None:
    """The view; None if the archive has no such run."""
    content = await archive.find(folder_of(namespace), run_id)
    return None if content is None else cast("Store", ArchivedStore(decode(content), store))


class ArchivedStore:
    def __init__(self, run: ArchivedRun, store: Store) -> None:
        self._run = run
        self._store = store
        self._blobs = dict(run.blobs)
        self._lines = [msgspec.structs.replace(line, id=number) for number, line in enumerate(run.lines, 1)]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def run(self, run_id: RunId) -> RunRow | None:
        return self._run.row if self._is(run_id) else await self._store.run(run_id)

    async def log(
        self, run_id: RunId, after: Seq = _FIRST, upto: Seq | None = None, limit: int | None = None
    ) -> list[LogRow]:
        if not self._is(run_id):
            return await self._store.log(run_id, after, upto, limit)
        found = [row for row in self._run.log if row.seq + row.count - 1 > after and (upto is None or row.seq <= upto)]
        return found[:limit]

    async def heads(self, run_ids: Collection[RunId]) -> dict[RunId, Seq]:
        found = await self._store.heads([each for each in run_ids if not self._is(each)])
        if self._run.row.id in run_ids and self._run.log:
            last = self._run.log[-1]
            found = {**found, self._run.row.id: Seq(last.seq + last.count - 1)}
        return found

    async def snapshot(self, run_id: RunId) -> Snapshot | None:
        return self._run.snapshot if self._is(run_id) else await self._store.snapshot(run_id)

    async def blob(self, digest: str) -> bytes:
        found = self._blobs.get(digest)
        return await self._store.blob(digest) if found is None else found

    async def approvals(self, query: ApprovalFilter) -> list[Approval]:
        if query.run_id is None or not self._is(query.run_id):
            return await self._store.approvals(query)
        return [each for each in self._run.approvals if query.status is None or each.status == query.status]

    async def dead_letters(
        self,
        namespace: str | None,
        run_id: RunId | None = None,
        status: DeadLetterStatus | None = None,
        after: tuple[Millis, str] | None = None,
        limit: int | None = None,
    ) -> list[DeadLetter]:
        if run_id is None or not self._is(run_id):
            return await self._store.dead_letters(namespace, run_id, status, after, limit)
        found = [each for each in self._run.dead_letters if status is None or each.status == status]
        return [each for each in found if after is None or (each.at, each.id) > after][:limit]

    async def lines(self, run_id: RunId, node: str | None, after: int, limit: int) -> list[Line]:
        if not self._is(run_id):
            return await self._store.lines(run_id, node, after, limit)
        found = [line for line in self._lines if line.id > after and (node is None or line.node == node)]
        return found[:limit]

    def _is(self, run_id: RunId) -> bool:
        return run_id == self._run.row.id
