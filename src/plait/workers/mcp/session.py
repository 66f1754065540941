"""One server as the engine sees it: connected on demand, and again after a loss."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from plait.egress import Egress
from plait.extras import extra

from . import errors
from .settings import Server

if TYPE_CHECKING:
    from .connection import Connection, Progress


class McpSession:
    def __init__(self, name: str, server: Server, egress: Egress) -> None:
        self._name = name
        self._server = server
        self._egress = egress
        self._connection: Connection | None = None
        self._opening = asyncio.Lock()
        self.changes = 0
        """How often its tools were announced to have changed, or may have by a reconnect."""

    async def tools(self, *, refresh: bool = False) -> dict[str, dict[str, Any]]:
        """Tools by name, as the server describes them. Raises `TaskError` with `tool_unavailable`."""
        connection = await self._connected()
        if refresh:
            connection.tools = None
        from .connection import Gone

        try:
            return await connection.listed()
        except Gone:
            return await (await self._connected()).listed()

    async def call(
        self, tool: str, arguments: dict[str, Any], meta: dict[str, Any], timeout: float, progress: Progress
    ) -> dict[str, Any]:
        connection = await self._connected()
        from .connection import Gone

        try:
            return await connection.call(tool, arguments, meta, timeout, progress)
        except Gone:  # restarted meanwhile, and did nothing: once more
            try:
                return await (await self._connected()).call(tool, arguments, meta, timeout, progress)
            except Gone:
                raise errors.unavailable(self._name, "it forgets its sessions") from None

    async def close(self) -> None:
        async with self._opening:
            if self._connection is not None:
                await self._connection.close()

    def _note_change(self) -> None:
        self.changes += 1

    async def _connected(self) -> Connection:
        found = self._connection
        if found is not None and not found.lost:
            return found
        async with self._opening:
            found = self._connection
            if found is None or found.lost:
                with extra("mcp", "Tools of MCP servers"):
                    kind = await asyncio.to_thread(_connection)  # the SDK takes a second to import
                if found is not None:
                    await found.close()
                    self._note_change()
                found = self._connection = await kind.open(self._name, self._server, self._egress, self._note_change)
        return found


def _connection() -> type[Connection]:
    from .connection import Connection

    return Connection
