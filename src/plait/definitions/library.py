"""The definitions of all namespaces, as this process knows them: each a stream of changes, folded into an index.

Processes that share a database share its definitions. A writer reads new changes, decides, writes the text, and appends
its change at the next number; if another process was faster, it reads and decides again. A version exists once its
change does: a text without a change was left by a writer that crashed or lost the race, and is never read.

With a snapshot of the index, a new process need not read every change since the first: it reads two records, and then
one per call, to learn what others did. The oldest changes are deleted once a snapshot contains them.

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
"""The namespace of loaded code, which belongs to no real namespace."""

_STREAM = "definitions"

Texts = tuple[Sequence[Description], Sequence[Change]]
"""The texts of new versions, and the changes that make them exist."""

_changes: msgspec.json.Decoder[Change] = msgspec.json.Decoder(Change)


@dataclass(slots=True)
class _Shelf:
    """The state of one namespace in this process."""

    index: Index
    follower: Follower[Change]
    writing: asyncio.Lock
    """Serializes the writers of this process, which would otherwise only conflict with each other's appends."""
    has_snapshot: bool
    """Whether a snapshot exists. The first one also contains what older releases wrote."""


class Library:
    def __init__(self, records: Records, clock: Clock) -> None:
        self._records = records
        self._clock = clock
        self._shelves: dict[str, _Shelf] = {}
        self._opening = asyncio.Lock()
        self._materialised = Materialised(records)

    async def index(self, namespace: str) -> Index:
        """Returns the current index, with the changes of all processes. Later changes modify it."""
        shelf = await self._shelf(namespace)
        await self._refresh(namespace, shelf)
        return shelf.index

    async def revision(self, namespace: str) -> int:
        """Returns the number of the last change."""
        shelf = await self._shelf(namespace)
        await self._refresh(namespace, shelf)
        return shelf.follower.sequence

    async def document(self, namespace: str, name: str, entry: Entry) -> Description:
        """Reads one whole version."""
        id = documents.document_id(entry.dialect, entry.owner or name, entry.version, entry.hash)
        return (await self._materialised.get(namespace, id, chained=entry.patches > 0)).chosen(name)

    async def save(self, namespace: str, decide: Callable[[Index], Texts]) -> Index:
        """Writes new versions and their changes, all or none; durable when this returns. `decide` raises to refuse, and
        is called again if another process was faster."""

        async def write(index: Index) -> Sequence[Change]:
            texts, changes = decide(index)
            now = self._clock.now()
            await asyncio.gather(*(documents.put(self._records, namespace, each, now) for each in texts))
            return changes

        return await self._append(namespace, write)

    async def change(self, namespace: str, decide: Callable[[Index], Sequence[Change]]) -> Index:
        """Like `save`, for changes without a text."""

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
                    continue  # a reader folded changes of others after the decision
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
        """Loads the snapshot; without one, the stream begins with what older releases wrote."""
        stream = Stream(self._records, _STREAM, namespace, self._clock)
        found = await stream.snapshot()
        index, sequence = _index_of(found), 0 if found is None else found.sequence
        if index is None:  # a damaged snapshot counts as none, as long as all its changes can be read again
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
