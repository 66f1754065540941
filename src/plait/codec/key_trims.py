"""Deletes keys of single runs (`run:<id>`) that nothing needs any more.

A run with personal fields and no subject has a key of its own, which its children and forks use as well. The write that
removes such a run notes its subject. An hour later, when everything that had read the run has written, the key is
deleted, unless

- another run has the subject, whose own removal notes it again;
- a run of the subject was archived: its document needs this key;
- the subject was erased: then the receipt has replaced the key;
- a new run got the id meanwhile: it has touched the record that lists its keys (`DataKeys.of_new_run`).

Keys of named subjects stay: there is one for each, and new runs of a subject may start at any time.
"""

from __future__ import annotations

from plait.kernel.clock import Clock
from plait.kernel.ids import Millis
from plait.kernel.store import SUBJECT, Record, RecordChange, RunFilter, RunRow, Store

from .key_records import (
    UNUSED,
    ScopeBody,
    body_of,
    change_notice,
    kept_name,
    key_name,
    record,
    scope_name,
    write_of,
)
from .scope import Scope

WAIT = Millis(3_600_000)
_AT_ONCE = 100
"""Maximum number of keys that one commit deletes."""
_OWN = "run:"
_NOTHING = ScopeBody([])


def own_scope(row: RunRow) -> Scope | None:
    """Returns the scope of a run's own key; None if its key is the namespace's or a named subject's."""
    subject = row.labels.get(SUBJECT, "")
    return Scope(row.namespace, subject) if subject.startswith(_OWN) else None


def note_unused(row: RunRow, now: Millis) -> list[RecordChange]:
    """Returns the changes to add to the write that removes the run."""
    scope = own_scope(row)
    if scope is None:
        return []
    name = (UNUSED, scope.namespace, f"{now:015d}/{scope.subject}")
    return [RecordChange(record(name, _NOTHING, now))]


class KeyTrims:
    def __init__(self, store: Store, clock: Clock) -> None:
        """`store`: the inner store, where keys are records."""
        self._store = store
        self._clock = clock

    async def keep(self, row: RunRow) -> None:
        """Notes that a run is about to be archived, so that its key stays; durable when this returns."""
        scope = own_scope(row)
        if scope is not None and await self._store.record(*kept_name(scope)) is None:
            mark = record(kept_name(scope), _NOTHING, self._clock.now())
            await self._store.commit([write_of([RecordChange(mark)])])

    async def apply(self) -> int:
        """Deletes the keys that are due; returns how many subjects had them."""
        now, count = self._clock.now(), 0
        while page := await self._store.records(UNUSED, None, None, _AT_ONCE):
            due = [noted for noted in page if noted.at <= now - WAIT]
            count += await self._trim(due, now)
            if len(due) < _AT_ONCE:
                break
        return count

    async def _trim(self, due: list[Record], now: Millis) -> int:
        deletions = [write_of(changes) for noted in due if (changes := await self._deletion(noted, now))]
        count = 0
        if deletions:
            count = (await self._store.commit(deletions)).count("ok")
            await self._store.commit([write_of([change_notice(now)])])
        if due:
            await self._store.commit([write_of([RecordChange(noted, "remove") for noted in due])])
        return count

    async def _deletion(self, noted: Record, now: Millis) -> list[RecordChange]:
        """Returns the changes that delete a key; empty if it must stay."""
        scope = Scope(noted.namespace, noted.id.partition("/")[2])
        found = await self._store.record(*scope_name(scope))
        if found is None or found.at > now - WAIT or (listed := body_of(found, ScopeBody)).receipt is not None:
            return []
        if await self._store.record(*kept_name(scope)) is not None or await self._has_runs(scope):
            return []
        keys = [record(key_name(bytes.fromhex(name)), _NOTHING, now) for name in listed.keys]
        return [RecordChange(found, "remove", expected=found.at), *(RecordChange(key, "remove") for key in keys)]

    async def _has_runs(self, scope: Scope) -> bool:
        query = RunFilter(namespace=scope.namespace, labels={SUBJECT: scope.subject or ""}, limit=1)
        return bool(await self._store.runs(query))
