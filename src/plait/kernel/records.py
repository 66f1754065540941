"""Small documents that belong to no run, kept beside the runs: keys, tags, used links, the audit trail.

A record has a kind, a namespace and an id. Changes ride in the group commits of the run loop, so that a
thousand of them at once cost one fsync.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Literal, Protocol

from .ids import RunId, Shard
from .record import Record, RecordChange, read_body
from .store import Store, Verdict, Write

__all__ = ["Record", "RecordChange", "Records", "read_body"]

_ANY_SHARD = Shard(0)
"""Records have no owner; any process may write them."""


class Appender(Protocol):
    """Puts a write into the next group commit."""

    def append(self, write: Write) -> Awaitable[Verdict]: ...


class Records:
    def __init__(self, store: Store, appender: Appender) -> None:
        self._store = store
        self._appender = appender

    def put(self, record: Record) -> Awaitable[object]:
        """Keeps a record, in the place of one of that name; durable when this is done."""
        return self._change(record, "put")

    async def add(self, record: Record) -> bool:
        """Keeps a new record; durable when this returns. False if there is one of that name already."""
        return await self._change(record, "new") == "ok"

    async def get(self, kind: str, namespace: str, id: str) -> Record | None:
        return await self._store.record(kind, namespace, id)

    async def named(self, kind: str, names: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Record]:
        """Of these namespaces and ids, those that are there."""
        found = await self._store.records_named(kind, names) if names else []
        return {(record.namespace, record.id): record for record in found}

    async def list(
        self,
        kind: str,
        namespace: str | None = None,
        *,
        after: str | None = None,
        limit: int = 100,
        newest_first: bool = False,
    ) -> list[Record]:
        """By id, of one namespace or of all; `after` is the last id of the page before."""
        return await self._store.records(kind, namespace, after, limit, newest=newest_first)

    async def remove(self, kind: str, namespace: str, id: str) -> bool:
        """Drops a record; False if there is none."""
        found = await self.get(kind, namespace, id)
        if found is None:
            return False
        await self._change(found, "remove")
        return True

    async def change_all(self, name: str, changes: Sequence[RecordChange]) -> bool:
        """All of them or none, after other changes of that name; durable when this returns. False if one was refused:
        it is there already, or not as it was expected."""
        return await self._appender.append(Write(RunId(f"~{name}"), _ANY_SHARD, None, records=changes)) == "ok"

    def _change(self, record: Record, how: Literal["new", "put", "remove"]) -> Awaitable[Verdict]:
        # Named so that changes of different records never wait for each other
        name = RunId(f"~{record.kind}/{record.namespace}/{record.id}")
        return self._appender.append(Write(name, _ANY_SHARD, None, records=[RecordChange(record, how)]))
