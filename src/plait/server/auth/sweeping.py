"""Records that are of no use after a time have that time in front of their id, and are swept a few at a time."""

from __future__ import annotations

from plait.kernel.ids import Millis
from plait.kernel.records import Records

_AT_ONCE = 20
"""More than one for each that is made, so that they can't pile up."""


def dated(until: int, name: str) -> str:
    return f"{until:012x}-{name}"


async def sweep(records: Records, kind: str, now: Millis) -> None:
    """Drops the oldest of a kind whose time is over. Called by whoever makes a new one."""
    for record in await records.list(kind, limit=_AT_ONCE):
        if record.id >= dated(now, ""):
            return
        await records.remove(record.kind, record.namespace, record.id)
