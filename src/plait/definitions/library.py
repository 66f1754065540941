"""The definitions of all namespaces, as this process knows them: each a stream of changes, folded into an index.

Processes that share a database share its definitions. A writer reads on, decides, writes the text, and appends the
change at the number that follows; if another process was faster it reads on and decides again. A version exists when
its change does: a text without one was left by a writer that crashed or lost, and is never looked at.

A snapshot of the index saves a new process from reading every change since the first: it reads two records, and then
one for each question, to learn what others did.

    records   definitions/default   0000000000000001  [version.saved …]     the stream
              definitions.snapshot  default           {sequence, index}     may be behind, may be lost
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import msgspec
from msgspec import Raw

from plait.kernel import values
from plait.kernel.clock import Clock
from plait.kernel.definitions import Description
from plait.kernel.records import Record, Records
from plait.kernel.streams import Follower, Stream

from . import documents
from .changes import Change
from .index import Entry, Index
from .materialised import Materialised
from .older_records import older_changes

CODE = ""
"""The namespace of code, which is loaded by a process and belongs to none."""

_STREAM, _SNAPSHOT, _ID = "definitions", "definitions.snapshot", "latest"
_EVERY = 200
"""Changes after which a new snapshot is worth its writing."""

Texts = tuple[Sequence[Description], Sequence[Change]]
"""What to write for new versions: their texts, and the changes that make them exist."""

_changes: msgspec.json.Decoder[Change] = msgspec.json.Decoder(Change)


class Snapshot(msgspec.Struct, frozen=True):
    sequence: int
    index: Raw


_snapshot = msgspec.json.Decoder(Snapshot)


@dataclass(slots=True)
class _Shelf:
    """What is known of one namespace."""

    index: Index
    follower: Follower[Change]
    writing: asyncio.Lock
    """Writers of this process queue up, where they would only be refused by each other's appends."""
    kept: int | None
    """The number of the last change that a snapshot holds; None if there is no snapshot."""


class Library:
    def __init__(self, records: Records, clock: Clock) -> None:
        self._records = records
        self._clock = clock
        self._shelves: dict[str, _Shelf] = {}
        self._opening = asyncio.Lock()
        self._materialised = Materialised(records)

    async def index(self, namespace: str) -> Index:
        """As it is now, whoever changed it. It goes on changing."""
        shelf = await self._shelf(namespace)
        await self._refresh(namespace, shelf)
        return shelf.index

    async def revision(self, namespace: str) -> int:
        """The number of the last change."""
        shelf = await self._shelf(namespace)
        await self._refresh(namespace, shelf)
        return shelf.follower.sequence

    async def document(self, namespace: str, name: str, entry: Entry) -> Description:
        """One version, whole."""
        id = documents.document_id(entry.dialect, entry.owner or name, entry.version, entry.hash)
        return (await self._materialised.get(namespace, id, chained=entry.patches > 0)).chosen(name)

    async def save(self, namespace: str, decide: Callable[[Index], Texts]) -> Index:
        """Keeps new versions and the changes that go with them, all or none; durable when this returns. `decide` raises
        to refuse, and is asked again if another process was faster."""

        async def write(index: Index) -> Sequence[Change]:
            texts, changes = decide(index)
            now = self._clock.now()
            await asyncio.gather(*(documents.put(self._records, namespace, each, now) for each in texts))
            return changes

        return await self._append(namespace, write)

    async def change(self, namespace: str, decide: Callable[[Index], Sequence[Change]]) -> Index:
        """The same for changes that have no text."""

        async def decided(index: Index) -> Sequence[Change]:
            return decide(index)

        return await self._append(namespace, decided)

    async def _append(self, namespace: str, decide: Callable[[Index], Awaitable[Sequence[Change]]]) -> Index:
        shelf = await self._shelf(namespace)
        async with shelf.writing:
            while True:
                await self._refresh(namespace, shelf)
                before = shelf.follower.sequence
                changes = await decide(shelf.index)
                if shelf.follower.sequence != before:
                    continue  # a reader of this process took in what others did, which was not decided on
                if await shelf.follower.append(changes):
                    break
            await self._keep(namespace, shelf)
        return shelf.index

    async def _refresh(self, namespace: str, shelf: _Shelf) -> None:
        try:
            await shelf.follower.refresh()
        except msgspec.DecodeError as error:
            raise documents.damaged(_STREAM, f"after change {shelf.follower.sequence}", str(error)) from None

    # -- snapshots -----------------------------------------------------------------------------------------------

    async def _shelf(self, namespace: str) -> _Shelf:
        found = self._shelves.get(namespace)
        if found is not None:
            return found
        async with self._opening:
            if namespace not in self._shelves:
                self._shelves[namespace] = await self._load(namespace)
            return self._shelves[namespace]

    async def _load(self, namespace: str) -> _Shelf:
        """As far as a snapshot goes; without one, what older releases wrote is what the stream begins with."""
        found = await self._read_snapshot(namespace)
        if found is not None:
            index, sequence = found
        else:
            index, sequence = Index(), 0
            for change, at in await older_changes(self._records, namespace):
                index.apply(change, at)
        stream = Stream(self._records, _STREAM, namespace, self._clock, end=sequence)
        follower = Follower(stream, _changes, index.apply, sequence=sequence)
        return _Shelf(index, follower, asyncio.Lock(), None if found is None else sequence)

    async def _read_snapshot(self, namespace: str) -> tuple[Index, int] | None:
        """A damaged one is as good as none: all that it holds can be read again."""
        record = await self._records.get(_SNAPSHOT, namespace, _ID)
        if record is None:
            return None
        try:
            found = _snapshot.decode(record.body)
            return Index.restore(found.index), found.sequence
        except msgspec.DecodeError:
            return None

    async def _keep(self, namespace: str, shelf: _Shelf) -> None:
        """Takes a snapshot when it pays. That of a slower process may replace it: it is only further behind."""
        sequence = shelf.follower.sequence
        if shelf.kept is not None and sequence - shelf.kept < _EVERY:
            return
        body = values.plain(Snapshot(sequence, shelf.index.snapshot()))
        await self._records.put(Record(_SNAPSHOT, namespace, _ID, Raw(body), self._clock.now()))
        shelf.kept = sequence
