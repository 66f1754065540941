"""Checks the streams of a store, such as the step catalogs: every event can be read, and none is missing.

What an event says is not checked: that takes its dialect, of the release that wrote it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Final

import msgspec

from plait.kernel.errors import Damaged, PlaitError
from plait.kernel.record import Record
from plait.kernel.store import Store

STREAMS: Final = ("agent_tools", "catalog", "cluster", "definitions", "node_types")
_PAGE = 200
_events = msgspec.json.Decoder(list[dict[str, Any]])


class _Covered(msgspec.Struct):
    """What matters here of a snapshot."""

    sequence: int


async def damaged_streams(store: Store) -> AsyncIterator[PlaitError]:
    """Finds at most one defect of each stream: what follows it can't be reached anyway."""
    for kind in STREAMS:
        try:
            async for stream in _records(store, kind, None):
                try:
                    await _walk(store, kind, stream.namespace)
                except PlaitError as error:
                    yield error
        except PlaitError as error:
            yield error


async def _walk(store: Store, kind: str, namespace: str) -> None:
    """Raises at the first event that is missing or can't be read. Events in the snapshot may have been deleted, also
    while this reads."""
    name, last = f"{kind}/{namespace}", 0
    async for record in _records(store, name, namespace):
        first, count = _place(name, record)
        if first > last + 1 and first > await _covered(store, kind, namespace) + 1:
            raise Damaged(f"{name} is damaged", f"event {last + 1} is missing: what follows is number {first}")
        last = first + count - 1


async def _covered(store: Store, kind: str, namespace: str) -> int:
    found = await store.record(f"{kind}.snapshot", namespace, "latest")
    try:
        return 0 if found is None else msgspec.json.decode(found.body, type=_Covered).sequence
    except msgspec.DecodeError:  # a damaged snapshot counts as none
        return 0


def _place(name: str, record: Record) -> tuple[int, int]:
    try:
        first, events = int(record.id), _events.decode(record.body)
    except (ValueError, msgspec.DecodeError) as error:
        raise Damaged(f"event {record.id} of {name} is damaged", str(error)) from error
    if not events or not all("type" in event for event in events):
        raise Damaged(f"event {record.id} of {name} is damaged", "its record holds no events, or one without a type")
    return first, len(events)


async def _records(store: Store, kind: str, namespace: str | None) -> AsyncIterator[Record]:
    after: str | None = None
    while page := await store.records(kind, namespace, after, _PAGE):
        for record in page:
            yield record
        after = page[-1].id
