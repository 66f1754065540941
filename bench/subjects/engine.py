"""What a subject must be able to do, in the fewest verbs that all the works need."""

from __future__ import annotations

import asyncio
from typing import Protocol


class Engine(Protocol):
    """An engine under test. Every step returns its own number, and a run returns the sum of its steps."""

    async def open(self) -> None:
        """Open the store and start working; runs left unfinished there go on by themselves where the engine can."""
        ...

    async def sequential(self, run: str, steps: int) -> int:
        """Start a run of ``steps`` durable steps, one after the other, and wait for its result."""
        ...

    async def parallel(self, run: str, width: int) -> int:
        """Start a run of ``width`` durable steps, all at once and then joined, and wait for its result."""
        ...

    async def hold(self, run: str, before: int, after: int) -> None:
        """Start a run of ``before + 1 + after`` steps whose middle one passes the gate; return when it stands there."""
        ...

    async def resume(self, runs: list[str]) -> None:
        """Wait until all these runs, held by a process that was killed, have completed in this one."""
        ...

    async def sleep(self, run: str) -> None:
        """Start a run that sleeps for a day; return when it is durable."""
        ...

    def helpers(self) -> list[int]:
        """Process ids of servers the engine cannot do without: their memory and CPU count as the engine's."""
        ...


class Gate:
    """Stops held runs in the middle, so that all of them are in flight, at a known step, when the process is killed.

    Closed in the process that will die; open in the one that resumes.
    """

    def __init__(self) -> None:
        self.open = True
        self._arrived: dict[str, asyncio.Event] = {}

    async def passing(self, run: str) -> None:
        """Called inside the middle step."""
        if not self.open:
            self._event(run).set()
            await asyncio.Event().wait()

    async def arrival(self, run: str) -> None:
        await self._event(run).wait()

    def _event(self, run: str) -> asyncio.Event:
        return self._arrived.setdefault(run, asyncio.Event())


GATE = Gate()
