"""The SDK's client, as any MCP client would be, on a server of a test."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import msgspec
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


class Caller:
    def __init__(self, client: Client) -> None:
        self.client = client
        self.progress: list[tuple[float, float | None, str | None]] = []

    async def __call__(self, tool: str, **arguments: Any) -> Any:
        result = await self.client.call_tool(tool, arguments, progress_callback=self._hear)
        assert not result.is_error, result.content
        return result.structured_content

    async def fails(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error, result
        return msgspec.json.decode(result.content[0].text)  # type: ignore[union-attr]

    async def names(self) -> set[str]:
        return {tool.name for tool in (await self.client.list_tools(cache_mode="refresh")).tools}

    async def _hear(self, progress: float, total: float | None, message: str | None) -> None:
        self.progress.append((progress, total, message))


@asynccontextmanager
async def over_http(url: str, key: str = "", **options: Any) -> AsyncIterator[Caller]:
    headers = {"authorization": f"Bearer {key}"} if key else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60.0) as http,  # servers may be slow to start
        Client(streamable_http_client(url, http_client=http), **options) as client,
    ):
        yield Caller(client)
