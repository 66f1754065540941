"""Applies the operator's rules to third-party clients: a transport for `httpx2` that connects only to admitted
addresses. Imported only where such a client is made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import httpcore2
import httpx2

from .client import Egress
from .errors import EgressError


class GuardedTransport(httpx2.AsyncHTTPTransport):
    """Connects only to addresses that the operator's rules for egress admit."""

    def __init__(self, egress: Egress) -> None:
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=egress.tls_context, http1=True, http2=False, network_backend=_GuardedNetwork(egress)
        )


class _GuardedNetwork(httpcore2.AsyncNetworkBackend):
    def __init__(self, egress: Egress) -> None:
        self._egress = egress
        self._network: Any = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        try:
            addresses = await self._egress.admitted(host, port)
        except EgressError as error:
            raise httpcore2.ConnectError(error.text) from error
        for address in addresses[:-1]:
            try:
                return await self._network.connect_tcp(str(address), port, timeout, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                continue
        return await self._network.connect_tcp(str(addresses[-1]), port, timeout, local_address, socket_options)

    async def sleep(self, seconds: float) -> None:
        await self._network.sleep(seconds)
