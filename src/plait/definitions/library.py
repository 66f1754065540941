"""The definitions of all namespaces, as this process knows them: each a stream of changes, folded into an index.

Processes that share a database share its definitions. A writer reads on, decides, writes the text, and appends the
change at the number that follows; if another process was faster it reads on and decides again. A version exists when
its change does: a text without one was left by a writer that crashed or lost, and is never looked at.

A snapshot of the index saves a new process from reading every change since the first: it reads two records, and then
one for each question, to learn what others did. The oldest changes are deleted when a snapshot has them.

    records   definitions/default   0000000000000001  [version.saved …]     the stream
              definitions.snapshot  latest            {sequence, index}     may be behind
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import msgspec

from plait.kernel.clock import Clock
from plait.kernel.definitions import Description
from plait.kernel.records import Records
from plait.kernel.streams import EVERY, Follower, Snapshot, Stream

from . import documents
from .changes import Change
from .index import Entry, Index
from .materialised import Materialised
from .older_records import older_changes

CODE = ""
"""The namespace of code, which is loaded by a process and belongs to none."""

_STREAM = "definitions"

Texts = tuple[Sequence[Description], Sequence[Change]]
"""What to write for new versions: their texts, and the changes that make them exist."""

_changes: msgspec.json.Decoder[Change] = msgspec.json.Decoder(Change)


@dataclass(slots=True)
class _Shelf:
    """What is known of one namespace."""

    index: Index
    follower: Follower[Change]
    writing: asyncio.Lock
    """Writers of this process queue up, where they would only be refused by each other's appends."""
    has_snapshot: bool
    """The first one also holds what older releases wrote."""


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
            await self._keep(shelf)
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
        stream = Stream(self._records, _STREAM, namespace, self._clock)
        found = await stream.snapshot()
        index, sequence = _index_of(found), 0 if found is None else found.sequence
        if index is None:  # a damaged one is as good as none, while all that it holds can be read again
            found, index, sequence = None, Index(), 0
            for change, at in await older_changes(self._records, namespace):
                index.apply(change, at)
        follower = Follower(
            stream, _changes, index.apply, restore=lambda raw: index.adopt(Index.restore(raw)), sequence=sequence
        )
        return _Shelf(index, follower, asyncio.Lock(), found is not None)

    async def _keep(self, shelf: _Shelf) -> None:
        await shelf.follower.keep(shelf.index.snapshot, EVERY if shelf.has_snapshot else 0)
        shelf.has_snapshot = True


def _index_of(snapshot: Snapshot | None) -> Index | None:
    try:
        return None if snapshot is None else Index.restore(snapshot.index)
    except msgspec.DecodeError:
        return None
