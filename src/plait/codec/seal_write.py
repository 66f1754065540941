"""Seals one write of the kernel for the inner store: every row with the key of its run."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import msgspec
from msgspec.structs import replace

from plait.kernel import values
from plait.kernel.approval import Approval
from plait.kernel.errors import Erased
from plait.kernel.store import ChildPlace, DeadLetter, InboxRow, Line, NewChild, RecordChange, Write

from .cipher import DataKey
from .key_records import OWN
from .run_keys import RunKeys
from .scope import Scope
from .seal import Names, Seal, blob_names, seal_record

_plain = msgspec.json.Decoder(dict[str, Any])


class SealWrite:
    def __init__(self, keys: RunKeys) -> None:
        self._keys = keys

    async def sealed(self, write: Write) -> Write:
        """Seals a write; raises `Erased` if the run's subject was erased."""
        found = replace(write)
        if write.records:
            found.records = [await self._record(change) for change in write.records]
        if not (write.plain or _has_rows(write)):
            return found
        key = await (self._keys.of(write.run_id) if write.create is None else self._keys.of_new(write.create))
        seal, names = Seal(key, write.run_id), Names()
        if write.blobs:
            names = await self._seal_blobs(write, found, key)
        if write.create is not None:
            found.create = seal.run(write.create)
        if write.log is not None:
            found.log = seal.log(write.log, names)
        if write.patch is not None:
            found.patch = seal.patch(write.patch)
        if not write.plain:
            await self._seal_rows(write, found, seal, names)
        return found

    async def _seal_blobs(self, write: Write, found: Write, key: DataKey) -> Names:
        """Seals the blobs and returns their names. A blob that no row refers to is read by its plain hash, so it keeps
        that name and gets the namespace's key."""
        refs = [task.blobs for task in write.queued] + [None if write.log is None else write.log.blobs]
        names = blob_names(key, refs, {digest for digest, _ in write.blobs})
        shared = await self._keys.of_scope(Scope(key.scope.namespace))
        found.blobs = [
            (names[digest], key.seal_blob(names[digest], body))
            if digest in names
            else (digest, shared.seal_blob(digest, body))
            for digest, body in write.blobs
        ]
        return names

    async def _seal_rows(self, write: Write, found: Write, seal: Seal, names: Names) -> None:
        """Seals the less frequent kinds of rows."""
        found.copies = [seal.log(row, names) for row in write.copies]
        found.taken = [seal.taken(taken) for taken in write.taken]
        found.lines = await self._lines(write.lines)
        found.queued = [seal.task(task, names) for task in write.queued]
        found.snapshot = None if write.snapshot is None else seal.snapshot(write.snapshot)
        found.approvals = [
            seal.approval(each) if isinstance(each, Approval) else seal.approval_change(each)
            for each in write.approvals
        ]
        found.dead_letters = [await self._letter(letter) for letter in write.dead_letters]
        found.inbox = [await self._inbox(row, seal, write) for row in write.inbox]
        if write.children:
            await self._seal_children(write.children, found, seal)

    async def _seal_children(self, children: Sequence[NewChild], found: Write, seal: Seal) -> None:
        """Seals new children. A child of an erased subject is refused, like one whose id is taken."""
        kept: list[NewChild] = []
        for child in children:
            try:
                own = Seal(await self._keys.of_new(child.row), child.row.id)
            except Erased as error:
                found.inbox = [*found.inbox, seal.inbox(_refused(child.refusal, error))]
                continue
            place = None if child.queueing is None else _sealed_place(child.queueing, seal)
            kept.append(NewChild(own.run(child.row), own.inbox(child.start), seal.inbox(child.refusal), place))
        found.children = kept

    async def _inbox(self, row: InboxRow, seal: Seal, write: Write) -> InboxRow:
        """Seals an inbox row of this run, or a message to another run."""
        if row.run_id != write.run_id:
            seal = Seal(await self._keys.of(row.run_id), row.run_id)
        fallback = None if row.fallback is None else await self._letter(row.fallback)
        return replace(seal.inbox(row), fallback=fallback)

    async def _lines(self, lines: Sequence[Line]) -> list[Line]:
        """Seals log lines of any runs; drops those of erased runs."""
        found: list[Line] = []
        for line in lines:
            with suppress(Erased):
                found.append(Seal(await self._keys.of(line.run_id), line.run_id).line(line))
        return found

    async def _letter(self, letter: DeadLetter) -> DeadLetter:
        return Seal(await self._keys.of(letter.run_id), letter.run_id).letter(letter)

    async def _record(self, change: RecordChange) -> RecordChange:
        if change.how in ("remove", "check") or change.record.kind.startswith(OWN):
            return change
        key = await self._keys.of_scope(Scope(change.record.namespace))
        return replace(change, record=seal_record(key, change.record))


def _has_rows(write: Write) -> bool:
    """Whether the write has rows with a run's values."""
    return bool(
        write.create is not None
        or write.log is not None
        or write.patch is not None
        or write.snapshot is not None
        or write.blobs
        or write.copies
        or write.taken
        or write.inbox
        or write.children
        or write.approvals
        or write.dead_letters
        or write.lines
        or write.queued
    )


def _sealed_place(queueing: ChildPlace, seal: Seal) -> ChildPlace:
    told = queueing.announcement
    return ChildPlace(queueing.place, seal.inbox(queueing.duplicate), None if told is None else seal.inbox(told))


def _refused(refusal: InboxRow, error: Erased) -> InboxRow:
    body = _plain.decode(refusal.body)
    body["error"] = {"code": error.code, "message": error.text, "kind": "conflict"}
    return replace(refusal, body=values.plain(body))
