"""Connections, pooled by place: scheme, name, port and the one address that the name was pinned to.

A pool's network knows a single address, so nothing above it can make it connect anywhere else; TLS verifies the name.
The name is part of the key as well: a connection verified for one name must not serve another name at the same
address.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from typing import Any, cast

import httpcore
import msgspec

from .settings import EgressSettings
from .trust import Trust
from .url import Address, Target

Connection = httpcore.AsyncHTTPConnection


class Place(msgspec.Struct, frozen=True):
    scheme: str
    host: str
    port: int
    address: str


class Connections:
    """A bounded number of connections in use, and a bounded number that stay idle for a while."""

    def __init__(self, settings: EgressSettings, trust: Trust) -> None:
        self._settings = settings
        self._trust = trust
        self._slots = asyncio.Semaphore(settings.max_connections)
        self._pools: dict[Place, _Pool] = {}
        """The pools by place; the most recently used is last."""
        self._alarm: asyncio.TimerHandle | None = None
        self._closing: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def use(self, target: Target, address: Address) -> AsyncGenerator[Connection]:
        """Provides a connection to a place; waiting for one place does not delay requests to others."""
        place = Place(target.scheme, target.host, target.port, str(address))
        pool = self._pools.get(place) or _Pool(asyncio.Semaphore(self._settings.max_connections_per_address))
        self._pools[place] = self._pools.pop(place, pool)
        pool.users += 1
        try:
            async with pool.slots, self._slots:
                connection = await pool.take() or self._open(place)
                try:
                    yield connection.http
                finally:
                    await pool.give_back(connection)
        finally:
            pool.users -= 1
            pool.used = asyncio.get_running_loop().time()
            await self._tidy()

    async def aclose(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        pools = list(self._pools.values())
        self._pools.clear()
        for pool in pools:
            await pool.aclose()
        await asyncio.gather(*self._closing)

    def _open(self, place: Place) -> _Connection:
        network = _PinnedNetwork(place.address)
        return _Connection(
            network,
            httpcore.AsyncHTTPConnection(
                httpcore.Origin(place.scheme.encode(), place.host.encode(), place.port),
                ssl_context=self._trust.context if place.scheme == "https" else None,
                keepalive_expiry=self._settings.keep_alive,
                network_backend=network,
            ),
        )

    async def _tidy(self) -> None:
        for pool in self._take_stale():
            await pool.aclose()
        if self._pools and self._alarm is None:
            self._alarm = asyncio.get_running_loop().call_later(self._settings.keep_alive, self._tidy_later)

    def _take_stale(self) -> list[_Pool]:
        """Removes and returns pools that have been unused for a while, and the oldest ones if too many connections are
        idle."""
        now = asyncio.get_running_loop().time()
        free = [(place, pool) for place, pool in self._pools.items() if pool.users == 0]
        surplus = sum(len(pool.idle) for _, pool in free) - self._settings.max_idle_connections
        stale: list[_Pool] = []
        for place, pool in free:
            held = len(pool.idle)
            if held == 0 or surplus > 0 or pool.used + self._settings.keep_alive <= now:
                surplus -= held
                stale.append(self._pools.pop(place))
        return stale

    def _tidy_later(self) -> None:
        self._alarm = None
        task = asyncio.get_running_loop().create_task(self._tidy())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)


class _Connection(msgspec.Struct, frozen=True):
    network: _PinnedNetwork
    http: Connection

    @property
    def usable(self) -> bool:
        """Whether it is idle and the other side has not closed it."""
        return self.http.is_available() and not self.http.has_expired()

    async def aclose(self) -> None:
        """Closes it in any state: a request may have been abandoned halfway."""
        await self.network.aclose()


class _Pool(msgspec.Struct):
    """The connections to one place. In httpcore's pool, a request cancelled at the wrong moment never returns its
    connection."""

    slots: asyncio.Semaphore
    idle: list[_Connection] = []
    """Idle connections; the most recently used is last."""
    users: int = 0
    used: float = 0.0

    async def take(self) -> _Connection | None:
        while self.idle:
            connection = self.idle.pop()
            if connection.usable:
                return connection
            await connection.aclose()
        return None

    async def give_back(self, connection: _Connection) -> None:
        if connection.usable:
            self.idle.append(connection)
        else:
            await connection.aclose()

    async def aclose(self) -> None:
        while self.idle:
            await self.idle.pop().aclose()


class _PinnedNetwork(httpcore.AsyncNetworkBackend):
    """A network with only one machine. It keeps the streams that it gave to its connection."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._network = cast(httpcore.AsyncNetworkBackend, httpcore.AnyIOBackend())
        self._streams: list[_Stream] = []

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        made = await self._network.connect_tcp(self._address, port, timeout, local_address, socket_options)
        stream = _Stream(made)
        self._streams.append(stream)
        return stream

    async def aclose(self) -> None:
        while self._streams:
            await self._streams.pop().aclose()


class _Stream(httpcore.AsyncNetworkStream):
    """A stream that is also closed if its TLS handshake is cancelled."""

    def __init__(self, stream: httpcore.AsyncNetworkStream) -> None:
        self._stream = stream

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return await self._stream.read(max_bytes, timeout)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.AsyncNetworkStream:
        try:
            return await self._stream.start_tls(ssl_context, server_hostname, timeout)
        except BaseException:
            await self._stream.aclose()
            raise

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
