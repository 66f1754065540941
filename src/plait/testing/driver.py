"""An in-memory driver that can fail on purpose: for tests of workflows embedded with `run_workflow`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from plait.embedding.driver import KeyValue, Write


class DriverFailed(Exception):
    """A deliberate failure of the driver."""


class MemoryDriver:
    """Outlives the passes that use it, as a disk does. Batch number `fail_at` fails, either `before` it is written or
    `after`, in which case the caller can't know whether it was written."""

    def __init__(self, fail_at: int | None = None, moment: Literal["before", "after"] = "before") -> None:
        self.pairs: dict[bytes, bytes] = {}
        self.alarms: dict[str, int] = {}
        self.batches = 0
        self._fail_at = fail_at
        self._moment = moment

    async def get(self, key: bytes) -> bytes | None:
        return self.pairs.get(key)

    async def set(self, key: bytes, value: bytes) -> None:
        self.pairs[key] = value

    async def delete(self, key: bytes) -> None:
        self.pairs.pop(key, None)

    async def delete_prefix(self, prefix: bytes) -> None:
        for key, _ in await self.list(prefix):
            del self.pairs[key]

    async def list(self, prefix: bytes) -> list[KeyValue]:
        return sorted(pair for pair in self.pairs.items() if pair[0].startswith(prefix))

    async def batch(self, writes: Sequence[Write]) -> None:
        self.batches += 1
        failing = self.batches == self._fail_at
        if failing and self._moment == "before":
            raise DriverFailed(f"batch {self.batches}")
        for key, value in writes:
            if value is None:
                self.pairs.pop(key, None)
            else:
                self.pairs[key] = value
        if failing:
            raise DriverFailed(f"batch {self.batches}, which is written")

    async def set_alarm(self, workflow_id: str, wake_at_ms: int) -> None:
        self.alarms[workflow_id] = wake_at_ms

    async def clear_alarm(self, workflow_id: str) -> None:
        self.alarms.pop(workflow_id, None)
