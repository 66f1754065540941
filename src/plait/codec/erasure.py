"""Erases a subject: overwrites its data keys with the receipt, in one write.

Afterwards nothing that was sealed with them can be opened, wherever it is stored. A second call finds the receipt.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from msgspec.structs import replace

from plait.api.erasure import LISTED, Receipt
from plait.kernel.clock import Clock
from plait.kernel.ids import caller_id
from plait.kernel.store import SUBJECT, RecordChange, RunFilter, RunRow, Store

from .cipher import is_sealed, new_key_id
from .key_records import (
    RECEIPT,
    KeyBody,
    ScopeBody,
    body_of,
    change_notice,
    key_name,
    receipt_name,
    record,
    scope_name,
    write_of,
)
from .key_records import SUBJECT as MARK
from .scope import Scope

_PAGE = 500


class Erasure:
    def __init__(self, store: Store, clock: Clock) -> None:
        """`store`: the inner store, where keys are records."""
        self._store = store
        self._clock = clock

    async def receipt(self, namespace: str, subject: str) -> Receipt | None:
        """Returns the receipt; None if the subject was not erased."""
        found = await self._scope(Scope(namespace, subject))
        return None if found is None else found.receipt

    async def receipts(self, namespace: str, after: str | None, limit: int) -> list[Receipt]:
        """Lists receipts by subject, those past the subject `after`."""
        last = None if after is None else MARK + after
        return [body_of(found, Receipt) for found in await self._store.records(RECEIPT, namespace, last, limit)]

    async def erase(self, namespace: str, subject: str, by: str) -> Receipt:
        """Erases a subject; durable when this returns. Returns the same receipt if the subject was erased before."""
        scope = Scope(namespace, subject)
        while True:
            found = await self._scope(scope)
            if found is not None and found.receipt is not None:
                break
            receipt = await self._new_receipt(scope, by, [] if found is None else found.keys)
            changes = await self._changes(scope, receipt, first=found is None)
            if await self._store.commit([write_of(changes)]) == ["ok"]:
                break
            # Another process has erased it, or the subject got its first key, which must be destroyed as well
        await self._store.scrub()
        kept = await self.receipt(namespace, subject)
        assert kept is not None
        return kept

    async def live(self, namespace: str, subject: str) -> list[RunRow]:
        """Returns the runs of the subject that have not ended."""
        query = RunFilter(namespace=namespace, labels={SUBJECT: subject}, status="running", limit=_PAGE)
        return await self._store.runs(query)

    async def _changes(self, scope: Scope, receipt: Receipt, *, first: bool) -> list[RecordChange]:
        changes = [
            # If two erase at the same time, one of them conflicts on the receipt
            RecordChange(record(receipt_name(scope), receipt, receipt.at), "new"),
            RecordChange(record(scope_name(scope), ScopeBody([], receipt), receipt.at), "new" if first else "put"),
            change_notice(receipt.at),
        ]
        for name in receipt.keys:
            known = key_name(bytes.fromhex(name))
            found = await self._store.record(*known)
            created = receipt.at if found is None else body_of(found, KeyBody).created_at
            gone = KeyBody(scope.namespace, created, scope.subject, erased_at=receipt.at)
            changes.append(RecordChange(record(known, gone, receipt.at), "put"))
        return changes

    async def _new_receipt(self, scope: Scope, by: str, keys: list[str]) -> Receipt:
        assert scope.subject is not None
        rows = [row async for row in self._runs(scope)]
        plain = [row for row in rows if not is_sealed(row.start_hash)]
        return Receipt(
            id=f"erasure-{new_key_id().hex()}",
            subject=scope.subject,
            namespace=scope.namespace,
            at=self._clock.now(),
            by=by,
            keys=keys,
            runs=len(rows),
            run_ids=[caller_id(row.id) for row in rows[:LISTED]],
            unencrypted=[caller_id(row.id) for row in plain[:LISTED]],
        )

    async def _runs(self, scope: Scope) -> AsyncIterator[RunRow]:
        """Yields the subject's runs, newest first."""
        query = RunFilter(namespace=scope.namespace, labels={SUBJECT: scope.subject or ""}, limit=_PAGE)
        while page := await self._store.runs(query):
            for row in page:
                yield row
            query = replace(query, after=(page[-1].created_at, page[-1].id))

    async def _scope(self, scope: Scope) -> ScopeBody | None:
        found = await self._store.record(*scope_name(scope))
        return None if found is None else body_of(found, ScopeBody)
