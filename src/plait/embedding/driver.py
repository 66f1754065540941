"""What the host gives an embedded run: a key-value store of its own, and alarms.

Each run has a namespace of its own, so no key names a run; only alarms do, because one scheduler may serve many. The
run is the only writer while a pass is under way; others may only append messages and set the eviction marker.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

KeyValue = tuple[bytes, bytes]
Write = tuple[bytes, bytes | None]
"""None deletes the key."""


class Driver(Protocol):
    """The keys of one run, and its alarm; the host brings it."""

    async def get(self, key: bytes) -> bytes | None: ...
    async def set(self, key: bytes, value: bytes) -> None: ...
    async def delete(self, key: bytes) -> None: ...

    async def delete_prefix(self, prefix: bytes) -> None:
        """Every key that begins with exactly these bytes."""
        ...

    async def list(self, prefix: bytes) -> list[KeyValue]:
        """Every key that begins with exactly these bytes, sorted by the bytes of the key."""
        ...

    async def batch(self, writes: Sequence[Write]) -> None:
        """All or nothing, and durable when it returns."""
        ...

    async def set_alarm(self, workflow_id: str, wake_at_ms: int) -> None:
        """The host runs the workflow again at that time. One alarm a workflow: a later call takes its place."""
        ...

    async def clear_alarm(self, workflow_id: str) -> None: ...
