"""The contract of all background parts of an engine."""

from __future__ import annotations

from typing import Protocol


class Part(Protocol):
    async def start(self) -> None: ...

    async def stop(self) -> None:
        """Ends at once, as a crash would, and leaves nothing running. May be called more than once."""
        ...
