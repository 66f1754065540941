"""Transports to servers. Everything that needs the SDK is below here, so it is imported with the first connection."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from types import TracebackType
from typing import Any, Self

import httpx2
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from plait.egress import Egress
from plait.egress.httpx_transport import GuardedTransport

from .settings import HttpServer, OwnServer, SdkServer, Server, StdioServer

_CONNECT_SECONDS = 30.0
_READ_SECONDS = 3600.0
"""A stream of events may be silent for long; calls have their own timeout."""


async def transport_of(server: Server, egress: Egress, lost: Callable[[], None], stack: AsyncExitStack) -> Any:
    """The transport for the SDK's client. `lost` is called when the server can no longer send anything; `stack` ends
    with the session."""
    match server:
        case StdioServer():
            parameters = StdioServerParameters(
                command=server.command, args=server.args, env=server.env or None, cwd=server.cwd
            )
            return _watched(stdio_client(parameters, sys.__stderr__ or sys.stderr), lost)
        case HttpServer():
            return _watched(_guarded(server, egress), lost)
        case SdkServer():
            return server.server
        case OwnServer():
            return await stack.enter_async_context(server.make())


@asynccontextmanager
async def _guarded(server: HttpServer, egress: Egress) -> AsyncGenerator[Any]:
    timeout = httpx2.Timeout(_CONNECT_SECONDS, read=_READ_SECONDS)
    async with (
        httpx2.AsyncClient(
            headers=server.headers, timeout=timeout, transport=GuardedTransport(egress), trust_env=False
        ) as client,
        streamable_http_client(server.url, http_client=client) as streams,
    ):
        yield streams


@asynccontextmanager
async def _watched(transport: Any, lost: Callable[[], None]) -> AsyncGenerator[Any]:
    async with transport as (read, write):
        yield _WatchedStream(read, lost), write


class _WatchedStream:
    """The messages of a server, with a callback at the end."""

    def __init__(self, stream: Any, lost: Callable[[], None]) -> None:
        self._stream = stream
        self._lost = lost

    @property
    def last_context(self) -> Any:
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> Any:
        return await self._stream.receive()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self._stream.__anext__()
        except BaseException:
            self._lost()
            raise

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._stream.__aexit__(kind, error, trace)
