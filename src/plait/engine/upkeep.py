"""Background work of an engine in real time: watches its event loop, removes old runs, and helps other engines."""

from __future__ import annotations

from plait.kernel.watchdog import Watchdog

from .fleet_worker import FleetWorker
from .garbage import collect_as_before, collect_rarely
from .retention import Retention


class Upkeep:
    def __init__(self, watchdog: Watchdog, retention: Retention, fleet_worker: FleetWorker) -> None:
        self._watchdog = watchdog
        self._retention = retention
        self._fleet_worker = fleet_worker

    async def start(self) -> None:
        self._watchdog.start()
        await self._retention.start()
        await self._fleet_worker.start()
        collect_rarely()

    async def stop(self) -> None:
        self._watchdog.stop()
        await self._fleet_worker.stop()
        await self._retention.stop()
        collect_as_before()
