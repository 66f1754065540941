"""A command's session with a server, which handles everything that we would have to do with a database."""

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
    """Opens a session. Requests our identity first, so that a wrong address or key is reported before any change."""
    async with Client(where.url, where.key) as client:
        own = (await client.me()).namespace
        home = DEFAULT_NAMESPACE if own == _EVERYWHERE else own
        yield ServerSession(client, where.namespace or home)
