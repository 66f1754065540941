"""The catalogs of all namespaces, as this process knows them: each a stream of events, folded.

Processes that share a database share its catalogs. One that changes a catalog reads on first, checks the change, and
appends it at the number that follows; if another process was faster it reads on and checks again. What others did is
seen at the next `refresh`, which reads only what is new, and a snapshot to begin with.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable
from dataclasses import dataclass
from typing import TypeVar

import msgspec
from msgspec import Raw

from plait.kernel.clock import Clock
from plait.kernel.events import Recorded
from plait.kernel.ids import Millis
from plait.kernel.records import Records
from plait.kernel.streams import EVERY, Follower, Stream, namespaces_of

from .catalog import Catalog, CatalogEvent, StepUnregistered
from .registering import Draft

log = logging.getLogger("plait.goals")

Watcher = Callable[[str, Collection[str]], object]
"""Gets the namespace and the ids of the steps that changed there; must be quick."""

T = TypeVar("T")

_KIND = "catalog"
_decoder: msgspec.json.Decoder[CatalogEvent] = msgspec.json.Decoder(CatalogEvent)


class Watchers:
    """Those who want to know when something about steps has changed in memory."""

    def __init__(self) -> None:
        self._watchers: list[Watcher] = []

    def add(self, watcher: Watcher) -> Callable[[], None]:
        """Until what is returned is called."""
        self._watchers.append(watcher)
        return lambda: self._watchers.remove(watcher)

    def tell(self, namespace: str, step_ids: Collection[str]) -> None:
        for watcher in tuple(self._watchers) if step_ids else ():
            try:
                watcher(namespace, step_ids)
            except Exception:
                log.exception("someone who watches the steps failed")


@dataclass(frozen=True, slots=True)
class _Entry:
    """What is known of one namespace."""

    catalog: Catalog
    stream: Stream
    follower: Follower[CatalogEvent]
    writing: asyncio.Lock
    """Writers of this process queue up, where they would only be refused by each other's appends."""


class Catalogs:
    def __init__(self, records: Records, clock: Clock) -> None:
        self._records = records
        self._clock = clock
        self._entries: dict[str, _Entry] = {}
        self._watchers = Watchers()

    def get(self, namespace: str) -> Catalog:
        """As it was last read. It goes on changing: `copy` it to keep it."""
        return self._entry(namespace).catalog

    def sequence(self, namespace: str) -> int:
        """The number of the last event that `get` knows."""
        return self._entry(namespace).follower.sequence

    @property
    def namespaces(self) -> list[str]:
        """Those that have steps, as far as this process knows."""
        return sorted(name for name, entry in self._entries.items() if entry.catalog.steps)

    async def refresh(self, namespace: str) -> Catalog:
        """As it is now, whoever changed it."""
        entry = self._entries.get(namespace) or self._entry(namespace)
        if events := await entry.follower.refresh():
            self._tell(namespace, events)
        return entry.catalog

    async def refresh_all(self) -> None:
        """Every namespace that has a catalog."""
        for namespace in await namespaces_of(self._records, _KIND):
            await self.refresh(namespace)

    async def change(self, namespace: str, change: Callable[[Draft], Awaitable[T]]) -> T:
        """Makes a change, all of it or none; durable when this returns. `change` raises to refuse, and is asked again
        if another process was faster. It may take its time: the catalog has all of it at once, in the end."""
        entry = self._entry(namespace)
        async with entry.writing:
            while True:
                await self.refresh(namespace)
                before, draft = entry.follower.sequence, Draft(entry.catalog)
                result = await change(draft)
                if entry.follower.sequence != before:
                    continue  # what others did was read meanwhile
                if await entry.follower.append(draft.events, _adopt(entry.catalog, draft)):
                    self._tell(namespace, draft.events)
                    await _keep(entry)
                    return result

    async def keep_all(self) -> None:
        """Snapshots of those that have had many changes since their last: the next process need not read them."""
        for entry in tuple(self._entries.values()):
            async with entry.writing:
                await _keep(entry)

    async def events(self, namespace: str, after: int = 0, limit: int | None = None) -> list[Recorded]:
        """What happened to the catalog, past event `after`."""
        return [entry.recorded for entry in await self._entry(namespace).stream.read(after, limit)]

    def watch(self, callback: Watcher) -> Callable[[], None]:
        """Calls back after a catalog in memory has changed, until what is returned is called."""
        return self._watchers.add(callback)

    def _entry(self, namespace: str) -> _Entry:
        found = self._entries.get(namespace)
        if found is None:
            catalog = Catalog()
            stream = Stream(self._records, _KIND, namespace, self._clock)
            follower = Follower(
                stream, _decoder, catalog.apply, restore=lambda raw: self._restore(namespace, catalog, raw)
            )
            found = self._entries[namespace] = _Entry(catalog, stream, follower, asyncio.Lock())
        return found

    def _restore(self, namespace: str, catalog: Catalog, snapshot: Raw) -> None:
        found, before = Catalog.restore(snapshot), catalog.steps
        catalog.adopt(found, found.last_updated)
        changed = {
            step_id for step_id in before.keys() | found.steps if before.get(step_id) != found.steps.get(step_id)
        }
        self._watchers.tell(namespace, changed)

    def _tell(self, namespace: str, events: Iterable[CatalogEvent]) -> None:
        changed = {event.step_id if isinstance(event, StepUnregistered) else event.step.id for event in events}
        self._watchers.tell(namespace, changed)


async def _keep(entry: _Entry) -> None:
    """A large catalog is worth a snapshot more rarely."""
    await entry.follower.keep(entry.catalog.snapshot, max(EVERY, len(entry.catalog.steps)))


def _adopt(catalog: Catalog, draft: Draft) -> Callable[[Millis], None] | None:
    """Several changes have their result already; for one, a copy of the catalog would cost more than it spares."""
    return (lambda at: catalog.adopt(draft.catalog, at)) if len(draft.events) > 1 else None
