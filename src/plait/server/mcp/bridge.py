"""Connects a client on standard input and output with a Plait server at an address, and forwards its requests."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import httpx2
import mcp_types
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp.server.lowlevel import Server
from mcp.server.lowlevel.server import NotificationOptions
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.subscriptions import ToolsListChanged

from plait.kernel.version import __version__

from .mount import PATH

_TIMEOUT = httpx2.Timeout(30.0, read=3600.0)


async def bridge_stdio(url: str, key: str | None, namespace: str | None, way: str = "") -> None:
    """Forwards until the client closes its end. `way` is the rest of the address, after `/mcp`."""
    headers = {"authorization": f"Bearer {key}"} if key else {}
    scope = f"?namespace={namespace}" if namespace else ""
    async with httpx2.AsyncClient(headers=headers, timeout=_TIMEOUT) as http:
        transport = streamable_http_client(f"{url.rstrip('/')}{PATH}{way}{scope}", http_client=http)
        bridge = _Bridge()
        async with Client(transport, message_handler=bridge.heard) as remote:
            bridge.remote = remote
            listening = asyncio.create_task(bridge.listen(), name="plait-mcp-bridge")
            try:
                async with stdio_server() as (read, write):
                    server = bridge.server()
                    options = server.create_initialization_options(NotificationOptions(tools_changed=True))
                    await server.run(read, write, options)
            finally:
                listening.cancel()
                await asyncio.gather(listening, return_exceptions=True)


class _Bridge:
    def __init__(self) -> None:
        self.remote: Client | None = None
        self._session: Any = None
        """The session of the local client, once it has sent a request."""
        self._bus = InMemorySubscriptionBus()

    def server(self) -> Server[Any]:
        remote = self._there()
        return Server(
            "plait",
            version=__version__,
            instructions=remote.instructions,
            on_list_tools=self._list,
            on_call_tool=self._call,
            on_subscriptions_listen=ListenHandler(self._bus),
        )

    def _there(self) -> Client:
        if self.remote is None:
            raise RuntimeError("not connected yet")
        return self.remote

    async def _list(self, context: Any, params: Any) -> mcp_types.ListToolsResult:
        self._session = context.session
        cursor = None if params is None else params.cursor
        return await self._there().list_tools(cursor=cursor, cache_mode="refresh")

    async def _call(self, context: Any, params: mcp_types.CallToolRequestParams) -> mcp_types.CallToolResult:
        self._session = context.session
        return await self._there().call_tool(
            params.name, params.arguments, progress_callback=context.session.report_progress, meta=_own(params)
        )

    async def heard(self, message: Any) -> None:
        if isinstance(message, mcp_types.ToolListChangedNotification):
            await self._announce()

    async def listen(self) -> None:
        """Subscribes to changes: newer servers announce them only on request."""
        with suppress(ListenNotSupportedError, SubscriptionLost, MCPError, TimeoutError, httpx2.HTTPError):
            async with self._there().listen(tools_list_changed=True) as events:
                async for _ in events:
                    await self._announce()

    async def _announce(self) -> None:
        if self._session is not None:
            await self._session.send_tool_list_changed()
        await self._bus.publish(ToolsListChanged())


def _own(params: mcp_types.CallToolRequestParams) -> Any:
    """Returns the client's own metadata; the rest belongs to its connection."""
    given: dict[str, Any] = dict(params.meta or {})
    return {name: value for name, value in given.items() if name.startswith("plait/")}
