"""Connections opened on demand, and reopened after a loss."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from asyncpg import ReadOnlySQLTransactionError

from plait.kernel.ids import Millis

from .database import AWAY, SQL, Address, Connection, connect

CLOSE_SECONDS = 5.0

Prepare = Callable[[Connection], Awaitable[None]]


class Link:
    """One connection, for one user at a time."""

    def __init__(self, address: Address, settings: dict[str, str], prepare: Prepare | None = None) -> None:
        self._address = address
        self._settings = settings
        self._prepare = prepare
        self._connection: Connection | None = None
        self._turn = asyncio.Lock()
        self._patience: Millis | None = None
        self._told: Millis | None = None
        """The limit that the connection has been given."""
        self._cut_short = False
        """The last user was cancelled. Its BEGIN may have been in flight: the next user would be inside a transaction
        that nobody commits."""

    def limit_idle(self, patience: Millis) -> None:
        """Limits how long a transaction may idle. One whose engine is frozen would block those that take over."""
        self._patience = patience

    @asynccontextmanager
    async def use(self) -> AsyncGenerator[Connection]:
        async with self._turn:
            try:
                yield await self._ready()
            except (*AWAY, ReadOnlySQLTransactionError):
                self._drop()  # a half-dead one too, or one to a standby: the next user gets a new one
                raise
            except asyncio.CancelledError:
                self._cut_short = self._prepare is None  # a reset would undo the preparation
                raise

    async def close(self) -> None:
        async with self._turn:
            if self._connection is not None:
                try:
                    await self._connection.close(timeout=CLOSE_SECONDS)
                except AWAY:
                    self._drop()
                self._connection = None

    async def _ready(self) -> Connection:
        if self._connection is None or self._connection.is_closed():
            self._connection = await connect(self._address, self._settings)
            self._told, self._cut_short = None, False
            try:
                if self._prepare is not None:
                    await self._prepare(self._connection)
            except BaseException:
                self._drop()
                raise
        if self._cut_short:
            await self._connection.reset()
            self._told, self._cut_short = None, False
        if self._told != self._patience:
            await self._connection.execute(SQL["limit_idle"], str(self._patience))
            self._told = self._patience
        return self._connection

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None


class Links:
    """A few connections, shared; the most recently used first."""

    def __init__(self, address: Address, settings: dict[str, str], size: int) -> None:
        self._all = [Link(address, settings) for _ in range(size)]
        self._free: asyncio.LifoQueue[Link] = asyncio.LifoQueue()
        for link in self._all:
            self._free.put_nowait(link)

    @asynccontextmanager
    async def use(self) -> AsyncGenerator[Connection]:
        link = await self._free.get()
        try:
            async with link.use() as connection:
                yield connection
        finally:
            self._free.put_nowait(link)

    def limit_idle(self, patience: Millis) -> None:
        for link in self._all:
            link.limit_idle(patience)

    async def close(self) -> None:
        for link in self._all:
            await link.close()
