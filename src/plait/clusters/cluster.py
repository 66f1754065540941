"""What a cluster must be able to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Lost(Exception):
    """The job is gone, with its worker or because somebody else stopped it: it can be asked for again."""


class Cluster(Protocol):
    async def run(self, name: str, call: bytes, hear: Callable[[bytes], None]) -> bytes:
        """Does the job of that name, or waits for it if it is there already; returns its end. What it says meanwhile
        is heard. Raises `Lost`. When this is cancelled the job goes on."""
        ...

    async def forget(self, name: str) -> None:
        """Stops the job if it goes on, and keeps nothing of it."""
        ...

    async def close(self) -> None:
        """Leaves jobs that go on where they are."""
        ...
