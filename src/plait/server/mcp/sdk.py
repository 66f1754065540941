"""Loads the SDK when it is first needed, in a thread: that takes a second and must not block the event loop."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from plait.extras import extra

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from mcp.server.transport_security import TransportSecuritySettings

    from .server import PlaitServer


class Sdk(NamedTuple):
    """The modules that need the SDK."""

    PlaitServer: type[PlaitServer]
    StreamableHTTPSessionManager: type[StreamableHTTPSessionManager]
    TransportSecuritySettings: type[TransportSecuritySettings]


async def load_sdk() -> Sdk:
    """Loads the SDK; raises `MissingExtra` if it is not installed."""
    with extra("mcp", "The MCP server"):
        return await asyncio.to_thread(_load)


def _load() -> Sdk:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from mcp.server.transport_security import TransportSecuritySettings

    from .server import PlaitServer

    return Sdk(PlaitServer, StreamableHTTPSessionManager, TransportSecuritySettings)
