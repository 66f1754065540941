"""Deletes expired records, a few at a time. Records that expire have their time of expiry in front of their id."""

from __future__ import annotations

from plait.kernel.ids import Millis
from plait.kernel.records import Records

_BATCH = 20
"""Deletions per new record; more than one, so that expired records can't pile up."""


def expiring_id(until: int, name: str) -> str:
    return f"{until:012x}-{name}"


async def delete_expired(records: Records, kind: str, now: Millis) -> None:
    """Deletes the oldest expired records of a kind. Called for each new record."""
    for record in await records.list(kind, limit=_BATCH):
        if record.id >= expiring_id(now, ""):
            return
        await records.remove(record.kind, record.namespace, record.id)
