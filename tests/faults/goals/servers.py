"""Real `plait serve` processes with the shop's steps, which a test may kill; the test starts runs beside them.

async with opened(url, service) as shop:
    run = await shop.client.start(...)
    async with shop.server() as server:
        await server.kill()             # kill -9
        await server.start()            # same port, same database
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from plait import Engine
from tests.server.argyll.stage import mounted
from tests.server.contract.processes import ServeProcess

from .services import StepService
from .shop import LEDGER

MODULE = "tests.faults.goals.shop"


@asynccontextmanager
async def engine_at(url: str, **options: Any) -> AsyncIterator[Engine]:
    """An engine and its server in the test's own process."""
    async with mounted(url, **options) as served:
        yield served.engine


class ShopServer(ServeProcess):
    def __init__(self, database: str, service: StepService) -> None:
        super().__init__(database, service.ledger.path)
        self._command = (*(MODULE if part == "tests.faults.work" else part for part in self._command), "--argyll")
        self._environment |= {LEDGER: str(service.ledger.path), "PLAIT_EGRESS_PRIVATE": "1"}

    async def stop(self) -> None:
        """The polite way."""
        self.signal()
        assert await self.ended() == 0

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid


@dataclass(frozen=True)
class Shop:
    url: str
    client: Engine
    """Starts runs and looks; does no work."""
    service: StepService

    @asynccontextmanager
    async def server(self) -> AsyncIterator[ShopServer]:
        """One that listens when this begins."""
        server = ShopServer(self.url, self.service)
        try:
            await server.start()
            yield server
        finally:
            await server.kill()


@asynccontextmanager
async def opened(url: str, service: StepService) -> AsyncIterator[Shop]:
    async with Engine(url, work=False) as client:
        yield Shop(url, client, service)
