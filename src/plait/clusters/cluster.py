"""The protocol of a cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Lost(Exception):
    """The job is lost, with its worker or because someone stopped it: it can be requested again."""


class Cluster(Protocol):
    async def run(self, name: str, call: bytes, hear: Callable[[bytes], None]) -> bytes:
        """Runs the job of that name, or joins it if it exists; returns its end. Passes its messages to `hear`. Raises
        `Lost`. If this is cancelled, the job continues."""
        ...

    async def forget(self, name: str) -> None:
        """Stops the job if it is running, and deletes everything about it."""
        ...

    async def close(self) -> None:
        """Disconnects; running jobs continue."""
        ...
