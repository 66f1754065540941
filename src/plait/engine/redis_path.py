"""The Redis hot path of an engine: created with it, active while it is open."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Protocol, runtime_checkable

from plait.kernel.events import Event
from plait.kernel.ids import Millis
from plait.kernel.kernel import Kernel
from plait.kernel.machine import RunInfo
from plait.kernel.records import Records
from plait.workers.redis.hot_path import HotPath
from plait.workers.redis.mirror import Command, Mirror
from plait.workers.redis.settings import settings_of

from .agents import Agents
from .queues import Queues


@runtime_checkable
class Mirrored(Protocol):
    """A machine whose dialect mirrors its runs for observers."""

    def mirror(self, events: Sequence[Event], at: Millis) -> list[Command]:
        """The changes of committed events, as Redis commands."""
        ...


class RedisPath:
    def __init__(self, url: str, *, lists: bool = False) -> None:
        """`lists`: agents are also offered as jobs in lists."""
        self._settings = settings_of(url)
        self._lists = lists
        self.observer = Mirror(self._mirrored)
        self._kernel: Kernel | None = None
        self._plain = False
        self._hot_path: HotPath | None = None

    def attach(self, kernel: Kernel, queues: Queues, records: Records, agents: Agents, *, plain: bool) -> None:
        """Connects it to an engine. `plain`: the database is not encrypted, so values may also be readable in Redis."""
        self._kernel, self._plain = kernel, plain
        self._hot_path = HotPath(
            self._settings,
            source=queues,
            watch=kernel.queue_watch,
            records=records,
            mirror=self.observer,
            clock=kernel.clock,
            jobs=cache(lambda: agents.jobs(queues)),
            lists=self._lists,
        )

    async def start(self) -> None:
        if self._kernel is not None and self._hot_path is not None:
            await self._hot_path.start(await self._kernel.store.namespaces())

    async def stop(self) -> None:
        if self._hot_path is not None:
            await self._hot_path.stop()

    def _mirrored(self, info: RunInfo, events: Sequence[Event], at: Millis) -> list[Command]:
        run = None if self._kernel is None or not self._plain else self._kernel.run_cache.get(info.run_id)
        return run.machine.mirror(events, at) if run is not None and isinstance(run.machine, Mirrored) else []
