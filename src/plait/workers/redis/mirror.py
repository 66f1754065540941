"""The mirror: changes of runs, copied to Redis for observers after the commit. Plait never reads them.

The dialect decides what is copied: commands for keys without their prefix. In addition, the end of a cancelled run is
published, so that workers can stop its tasks.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from plait.kernel.errors import PlaitError
from plait.kernel.events import Event, RollbackStarted, RunCancelled, RunFailed
from plait.kernel.ids import Millis, RunId, caller_id
from plait.kernel.machine import RunInfo
from plait.kernel.observer import Observer
from plait.kernel.task import Attempt

from .link import Link
from .names import cancel_channel, prefix

_MOST = 100_000
"""Most commands waiting while Redis is unavailable; older ones are dropped: a mirror may have gaps, the log has
none."""
_AT_ONCE = 1_000
_ENDED = (RunCancelled, RunFailed, RollbackStarted)

Command = tuple[Any, ...]
"""A command of Redis; its second part is the key."""
Mirrored = Callable[[RunInfo, Sequence[Event], Millis], Sequence[Command]]


class Mirror(Observer):
    def __init__(self, mirrored: Mirrored) -> None:
        self._mirrored = mirrored
        self._commands: deque[Command] = deque(maxlen=_MOST)
        self._cancelled: list[RunId] = []
        self._filled = asyncio.Event()

    # -- what an engine tells ------------------------------------------------------------------------------------

    def committed(self, run: RunInfo, events: Sequence[Event], at: Millis) -> None:
        found = self._mirrored(run, events, at)
        if found:
            before = prefix(run.namespace)
            self._commands += [(name, before + key, *rest) for name, key, *rest in found] if before else found
            self._filled.set()
        for event in events:
            if isinstance(event, _ENDED):
                self._cancelled.append(run.run_id)
                self._commands.append(("PUBLISH", cancel_channel(run.namespace, caller_id(run.run_id)), "cancelled"))
                self._filled.set()

    def attempting(self, attempt: Attempt) -> AbstractContextManager[object] | None:
        return None

    def grouped(self, writes: int, seconds: float) -> None: ...

    def lost(self, shards: int) -> None: ...

    def unavailable(self, error: PlaitError) -> None: ...

    # -- what the hot path does with it --------------------------------------------------------------------------

    def take_cancelled(self) -> list[RunId]:
        found, self._cancelled = self._cancelled, []
        return found

    async def some(self) -> None:
        """Waits until there is something to write."""
        await self._filled.wait()

    async def write(self, link: Link) -> None:
        while self._commands:
            batch = [self._commands.popleft() for _ in range(min(_AT_ONCE, len(self._commands)))]
            await link.do(batch)
        self._filled.clear()
