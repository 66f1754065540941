"""Small documents that belong to no run, stored beside the runs: keys, tags, used links, the audit trail.

A record has a kind, a namespace and an id. Changes are part of the run loop's group commits, so that a thousand of them
at once cost one fsync.
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
    """Adds a write to the next group commit."""

    def append(self, write: Write) -> Awaitable[Verdict]: ...


class Records:
    def __init__(self, store: Store, appender: Appender) -> None:
        self._store = store
        self._appender = appender

    def put(self, record: Record) -> Awaitable[object]:
        """Stores a record, replacing one of the same name; durable when this is done."""
        return self._change(record, "put")

    async def add(self, record: Record) -> bool:
        """Stores a new record; durable when this returns. False if one of that name exists."""
        return await self._change(record, "new") == "ok"

    async def get(self, kind: str, namespace: str, id: str) -> Record | None:
        return await self._store.record(kind, namespace, id)

    async def named(self, kind: str, names: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Record]:
        """The existing records among these namespaces and ids."""
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
        """Records by id, of one namespace or of all; `after` is the last id of the previous page."""
        return await self._store.records(kind, namespace, after, limit, newest=newest_first)

    async def remove(self, kind: str, namespace: str, id: str) -> bool:
        """Deletes a record; False if there is none."""
        found = await self.get(kind, namespace, id)
        if found is None:
            return False
        await self._change(found, "remove")
        return True

    async def change_all(self, name: str, changes: Sequence[RecordChange]) -> bool:
        """Applies all changes or none, in order with other changes of that name; durable when this returns. False if
        one was refused: its record exists already, or is not as expected."""
        return await self._appender.append(Write(RunId(f"~{name}"), _ANY_SHARD, None, records=changes)) == "ok"

    def _change(self, record: Record, how: Literal["new", "put", "remove"]) -> Awaitable[Verdict]:
        # Named so that changes of different records never wait for each other
        name = RunId(f"~{record.kind}/{record.namespace}/{record.id}")
        return self._appender.append(Write(name, _ANY_SHARD, None, records=[RecordChange(record, how)]))
