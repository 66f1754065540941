"""A command's session with a server, which cares for everything that a database would leave to us."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from plait.kernel.ids import DEFAULT_NAMESPACE
from plait.registry.client import Client

from .contract import Run
from .options import Where

_EVERYWHERE = "*"


@dataclass(frozen=True, slots=True)
class ServerSession:
    engine: Client
    namespace: str

    @property
    def me(self) -> str:
        return ""

    async def told(self, run: Run, telling: Awaitable[object]) -> None:
        await telling

    async def taken(self, run: Run, key: str) -> None:
        return None

    async def untaken(self, run: Run) -> list[str]:
        return []

    async def working(self) -> None:
        return None


@asynccontextmanager
async def served(where: Where) -> AsyncGenerator[ServerSession]:
    """Asks first who we are: that says what is wrong with the address or the key, before anything is done."""
    async with Client(where.url, where.key) as client:
        own = (await client.me()).namespace
        home = DEFAULT_NAMESPACE if own == _EVERYWHERE else own
        yield ServerSession(client, where.namespace or home)
