"""The catalogs of all namespaces, as this process knows them: each folded from a stream of events.

Processes that share a database share its catalogs. To change one, a process reads the newest events, checks the
change, and appends it at the next sequence number; if another process was faster it reads on and checks again. Changes
of other processes are seen at the next `refresh`, which reads only what is new, starting from a snapshot.
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
from plait.kernel.streams import EVERY, Follower, Stream

from .catalog import Catalog, CatalogEvent, StepUnregistered
from .refresher import Refresher
from .registering import Draft

log = logging.getLogger("plait.goals")

Watcher = Callable[[str, Collection[str]], object]
"""Called with the namespace and the ids of the steps that changed there; must return quickly."""

T = TypeVar("T")

_KIND = "catalog"
_decoder: msgspec.json.Decoder[CatalogEvent] = msgspec.json.Decoder(CatalogEvent)


class Watchers:
    """Callbacks for changes of steps in memory."""

    def __init__(self) -> None:
        self._watchers: list[Watcher] = []

    def add(self, watcher: Watcher) -> Callable[[], None]:
        """Adds a callback; returns the function that removes it."""
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
    """The state of one namespace in this process."""

    catalog: Catalog
    stream: Stream
    follower: Follower[CatalogEvent]
    writing: asyncio.Lock
    """Serializes the writers of this process, which would otherwise conflict with each other."""


class Catalogs:
    def __init__(self, records: Records, clock: Clock) -> None:
        self._records = records
        self._clock = clock
        self._entries: dict[str, _Entry] = {}
        self._watchers = Watchers()
        self._refresher = Refresher(records, _KIND, self.refresh)

    def get(self, namespace: str) -> Catalog:
        """The catalog as last read. It keeps changing: `copy` it to keep a version."""
        return self._entry(namespace).catalog

    def sequence(self, namespace: str) -> int:
        """The number of the last event that `get` reflects."""
        return self._entry(namespace).follower.sequence

    @property
    def namespaces(self) -> list[str]:
        """The namespaces that have steps, as far as this process knows."""
        return sorted(name for name, entry in self._entries.items() if entry.catalog.steps)

    async def refresh(self, namespace: str) -> Catalog:
        """Reads new events, and returns the current catalog."""
        entry = self._entries.get(namespace) or self._entry(namespace)
        if events := await entry.follower.refresh():
            self._tell(namespace, events)
        return entry.catalog

    async def refresh_all(self) -> None:
        """Refreshes every namespace that has a catalog; one that can't be read is logged."""
        await self._refresher.refresh_all()

    async def change(self, namespace: str, change: Callable[[Draft], Awaitable[T]]) -> T:
        """Makes a change, all of it or none; durable when this returns. `change` raises to refuse, and is called again
        if another process was faster. It may be slow: readers see the whole change at once when it is done."""
        entry = self._entry(namespace)
        async with entry.writing:
            while True:
                await self.refresh(namespace)
                before, draft = entry.follower.sequence, Draft(entry.catalog)
                result = await change(draft)
                if entry.follower.sequence != before:
                    continue  # changes of others were read in the meantime
                if await entry.follower.append(draft.events, _adopt(entry.catalog, draft)):
                    self._tell(namespace, draft.events)
                    await _keep(entry)
                    return result

    async def keep_all(self) -> None:
        """Snapshots the catalogs with many changes since the last one, so that the next process need not read them."""
        for entry in tuple(self._entries.values()):
            async with entry.writing:
                await _keep(entry)

    async def events(self, namespace: str, after: int = 0, limit: int | None = None) -> list[Recorded]:
        """The events of the catalog after event `after`."""
        return [entry.recorded for entry in await self._entry(namespace).stream.read(after, limit)]

    def watch(self, callback: Watcher) -> Callable[[], None]:
        """Calls back after a catalog in memory has changed; returns the function that stops this."""
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
    """Snapshots a catalog if it is due: the larger the catalog, the more events apart."""
    await entry.follower.keep(entry.catalog.snapshot, max(EVERY, len(entry.catalog.steps)))


def _adopt(catalog: Catalog, draft: Draft) -> Callable[[Millis], None] | None:
    """Adopts the draft's result for several changes; a single one is cheaper to apply than the catalog is to copy."""
    return (lambda at: catalog.adopt(draft.catalog, at)) if len(draft.events) > 1 else None
