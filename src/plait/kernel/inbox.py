"""The inbox: inputs written by any process for runs that this engine owns, taken in order."""

from __future__ import annotations

import asyncio
import logging

import msgspec

from .background import Background
from .ids import RunId
from .inputs import AnyInput
from .leases import Leases
from .sources import Recipient
from .store import InboxRow, Store

log = logging.getLogger("plait.kernel")

_AT_ONCE = 500

_input = msgspec.json.Decoder(AnyInput)


class Inbox:
    def __init__(self, store: Store, leases: Leases, recipient: Recipient, background: Background) -> None:
        self._store = store
        self._leases = leases
        self._recipient = recipient
        self._background = background
        self._taking: set[tuple[RunId, str]] = set()
        self._done: list[tuple[RunId, str]] = []
        """Inputs taken during a read, which may still return them."""
        self._looking = False
        self._again = False

    def look_soon(self) -> None:
        self._background.keep_trying(self.look)

    async def look(self) -> None:
        """Delivers every waiting input; calls during a read cause one more round."""
        self._again = True
        if self._looking:
            return
        self._looking = True
        try:
            while self._again:
                await asyncio.sleep(0)  # many inputs that arrive at once cause one read
                self._again = False
                self._taking.difference_update(self._done)
                self._done.clear()
                if not self._leases.shards:
                    continue
                limit = _AT_ONCE + len(self._taking)
                rows = await self._store.inbox(self._leases.shards, limit)
                new = [self._take(row) for row in rows]
                self._again |= any(new) and len(rows) >= limit
        finally:
            self._looking = False

    def came(self, row: InboxRow) -> None:
        """A row was just written here. It must not overtake those that a read is about to return."""
        if self._looking:
            self._again = True
        else:
            self._take(row)

    def _take(self, row: InboxRow) -> bool:
        """Delivers one row, unless it has been delivered already."""
        place = (row.run_id, row.key)
        if place in self._taking:
            return False
        self._taking.add(place)
        try:
            input = _input.decode(row.body)
        except msgspec.DecodeError as error:
            log.error("an input of run %s can't be read by this engine, and waits for another: %s", row.run_id, error)
            return False
        self._leases.note(row.run_id, row.shard)
        self._recipient.deliver(row.run_id, input, row.key)
        return True

    def taken(self, run_id: RunId, key: str) -> None:
        """The input is in the log."""
        if self._looking:
            self._done.append((run_id, key))
        else:
            self._taking.discard((run_id, key))

    def forget(self, run_id: RunId) -> None:
        self._taking = {place for place in self._taking if place[0] != run_id}
