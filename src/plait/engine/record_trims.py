"""Trims records that belong to no run: each round of retention deletes some outdated ones.

Agents' spending is only needed on the same day. Uses of a pipeline are counted until they suffice to make it a tool,
but agents write most pipelines once: a use counts for three months.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from plait.agents.record_kinds import SPENDING, USE
from plait.kernel.ids import Millis
from plait.kernel.records import Record, RecordChange, Records
from plait.kernel.store import Store

_AT_ONCE = 100
"""Records deleted by one commit."""
_PAGE = 1_000
"""Records examined in a round, if their order does not show which are old."""
_KEPT_DAYS = 2
"""Clocks differ, and an agent's call may continue past midnight."""
USE_COUNTS = timedelta(days=90)


class RecordTrims:
    def __init__(self, records: Records, stored: Store) -> None:
        """`stored` is the database itself: deleting needs no decryption."""
        self._records = records
        self._stored = stored
        self._last_use: str | None = None
        """Where the next round continues."""

    async def apply(self, now: Millis) -> None:
        await self._trim_spending(now)
        await self._trim_uses(now)

    async def _trim_spending(self, now: Millis) -> None:
        """Deletes outdated spending; the oldest days come first."""
        first_kept = datetime.fromtimestamp(now / 1000, UTC).date() - timedelta(days=_KEPT_DAYS - 1)
        while page := await self._stored.records(SPENDING, None, None, _AT_ONCE):
            old = [record for record in page if record.id < first_kept.isoformat()]
            await self._remove(old)
            if len(old) < _AT_ONCE:
                return

    async def _trim_uses(self, now: Millis) -> None:
        before = now - int(USE_COUNTS.total_seconds() * 1000)
        page = await self._stored.records(USE, None, self._last_use, _PAGE)
        self._last_use = page[-1].id if len(page) == _PAGE else None
        old = [record for record in page if record.at < before]
        for first in range(0, len(old), _AT_ONCE):
            await self._remove(old[first : first + _AT_ONCE])

    async def _remove(self, records: Sequence[Record]) -> None:
        if records:
            name = f"{records[0].kind}/trim"
            await self._records.change_all(name, [RecordChange(record, "remove") for record in records])
            await asyncio.sleep(0)  # let the run loop run
