"""What the host provides to an embedded run: a key-value store of its own, and alarms.

Each run has a namespace of its own, so no key names a run; only alarms do, because one scheduler may serve many. The
run is the only writer during a pass; others may only append messages and set the eviction marker.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

KeyValue = tuple[bytes, bytes]
Write = tuple[bytes, bytes | None]
"""A key and its new value; None deletes the key."""


class Driver(Protocol):
    """The keys of one run, and its alarm; implemented by the host."""

    async def get(self, key: bytes) -> bytes | None: ...
    async def set(self, key: bytes, value: bytes) -> None: ...
    async def delete(self, key: bytes) -> None: ...

    async def delete_prefix(self, prefix: bytes) -> None:
        """Deletes every key that begins with exactly these bytes."""
        ...

    async def list(self, prefix: bytes) -> list[KeyValue]:
        """Lists every key that begins with exactly these bytes, sorted by the bytes of the key."""
        ...

    async def batch(self, writes: Sequence[Write]) -> None:
        """Applies all writes or none; durable when it returns."""
        ...

    async def set_alarm(self, workflow_id: str, wake_at_ms: int) -> None:
        """Asks the host to run the workflow again at that time. A workflow has one alarm: a later call replaces it."""
        ...

    async def clear_alarm(self, workflow_id: str) -> None: ...
