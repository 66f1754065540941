"""Handlers registered over HTTP: addresses, child runs and queues of a namespace, stored with the runs.

Functions are never among them: those come from configuration or the command line only.
"""

from __future__ import annotations

from typing import Final

import msgspec

from plait.api.noun import Noun
from plait.kernel import values
from plait.kernel.clock import Clock
from plait.kernel.records import Record, Records, read_body

from .running.state import Binding

HANDLER: Final = Noun(
    "handler", "AFL_NO_HANDLER", "no handler is registered for `{}`", fix="look at the list of them", max_length=200
)
_KIND: Final = "afl.handler"
_FRESH: Final = 1.0
"""Seconds for which another process's change may go unnoticed."""
_PAGE: Final = 500


class StoredHandler(msgspec.Struct, frozen=True):
    name: str
    """Qualified or short."""
    binding: Binding


class StoredHandlers:
    def __init__(self, records: Records, clock: Clock) -> None:
        self._records = records
        self._clock = clock
        self._known: dict[str, tuple[float, dict[str, StoredHandler]]] = {}

    async def of(self, namespace: str) -> dict[str, StoredHandler]:
        """Handlers of a namespace by name."""
        now = self._clock.monotonic()
        at, found = self._known.get(namespace, (-_FRESH, {}))
        if now - at < _FRESH:
            return found
        found = {each.name: each for each in await self._read(namespace)}
        self._known[namespace] = (now, found)
        return found

    async def _read(self, namespace: str) -> list[StoredHandler]:
        found: list[StoredHandler] = []
        after: str | None = None
        while page := await self._records.list(_KIND, namespace, after=after, limit=_PAGE):
            found += [read_body(record, StoredHandler) for record in page]
            after = page[-1].id
        return found

    async def put(self, handler: StoredHandler, namespace: str) -> None:
        body = values.encode(handler)
        await self._records.put(Record(_KIND, namespace, handler.name, body, self._clock.now()))
        self._known.pop(namespace, None)

    async def remove(self, name: str, namespace: str) -> None:
        if not await self._records.remove(_KIND, namespace, name):
            raise HANDLER.missing(name)
        self._known.pop(namespace, None)
