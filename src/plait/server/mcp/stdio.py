"""MCP on standard input and output, for clients that start Plait as a command."""

from __future__ import annotations

from typing import Any

from mcp.server.stdio import stdio_server
from starlette.types import ASGIApp

from plait.api.mcp_tool import McpSession
from plait.engine import Engine
from plait.kernel.ids import DEFAULT_NAMESPACE

from .app_api import AppApi
from .server import PlaitServer


async def serve_stdio(
    engine: Engine, app: ASGIApp, namespace: str | None, *, mode: str = "", subject: str = ""
) -> None:
    """Serves until the client closes its end. `app` is the API of this process, open to its own user."""
    api = AppApi(app, {}, namespace)

    def api_of(context: Any) -> AppApi:
        return api

    session = McpSession(id="stdio", mode=mode, subject=subject)

    def session_of(context: Any) -> McpSession:
        return session

    def namespace_of(context: Any) -> str:
        return namespace or DEFAULT_NAMESPACE

    server = PlaitServer(engine, api_of, session_of, mode, namespace_of)
    async with stdio_server() as (read, write), server.announcing():
        await server.sdk.run(read, write, server.options())
