"""All configured servers, and the engine's own tools among them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

from plait.egress import Egress
from plait.kernel.task import TaskError

from . import errors, lookup
from .session import McpSession
from .settings import OWN, OwnServer, read_servers

if TYPE_CHECKING:
    from .connection import Progress


class McpServers:
    """One session per server, for one event loop. Costs nothing until the first tool; `close` ends everything."""

    def __init__(self, given: Mapping[str, Any], egress: Egress) -> None:
        self._egress = egress
        found = read_servers(given)
        self._sessions = {name: McpSession(name, server, egress) for name, server in found.servers.items()}
        self.groups = found.groups

    @property
    def names(self) -> list[str]:
        return list(self._sessions)

    @property
    def changes(self) -> int:
        """How often servers have announced changed tools. The engine's own are not counted."""
        return sum(session.changes for name, session in self._sessions.items() if name != OWN)

    def add_own(self, make: Callable[[], AbstractAsyncContextManager[Any]]) -> None:
        """Adds the engine's own tools: `make` creates an SDK server for the duration of a session."""
        self._sessions[OWN] = McpSession(OWN, OwnServer(make), self._egress)

    async def close_own(self) -> None:
        """Closes them before their engine closes."""
        if (session := self._sessions.pop(OWN, None)) is not None:
            await session.close()

    async def tools(self, servers: Sequence[str] | None = None) -> dict[str, dict[str, dict[str, Any]]]:
        """Tools by server and name. Raises `TaskError` with `tool_unavailable` if a server can't be reached."""
        offered, unavailable = await self.offered(servers)
        for problem in unavailable.values():
            raise problem
        return offered

    async def offered(
        self, servers: Sequence[str] | None = None
    ) -> tuple[dict[str, dict[str, dict[str, Any]]], dict[str, TaskError]]:
        """Tools by server and name; and the unreachable servers, with the errors."""
        names = self._in_scope(servers)
        asked = await asyncio.gather(*(self._sessions[name].tools() for name in names), return_exceptions=True)
        offered: dict[str, dict[str, dict[str, Any]]] = {}
        unavailable: dict[str, TaskError] = {}
        for name, answer in zip(names, asked, strict=True):
            if isinstance(answer, TaskError):
                unavailable[name] = answer
            elif isinstance(answer, BaseException):
                raise answer
            else:
                offered[name] = answer
        return offered, unavailable

    async def find(self, tool: str, servers: Sequence[str] | None = None) -> lookup.Found:
        """The server that has a tool. An unreachable server matters only if no other has it."""
        names = self._in_scope(servers)
        said = lookup.named_server(tool, names)
        if said is not None:
            await self._known(said.server, said.tool)
            return said
        offered, unavailable = await self.offered(servers)
        unavailable.pop(OWN, None)  # they may be unavailable here; a step that needs them writes `plait:TOOL`
        try:
            return lookup.find(tool, offered)
        except TaskError as error:
            if unavailable and error.code == "tool_not_found":
                raise next(iter(unavailable.values())) from None
            if error.code != "tool_not_found":
                raise
        # A server that announces no changes may have it by now
        return lookup.find(tool, await self._refreshed([name for name in names if name in offered]))

    async def call(
        self,
        found: lookup.Found,
        arguments: dict[str, Any],
        meta: dict[str, Any],
        timeout: float,
        progress: Progress,
    ) -> dict[str, Any]:
        """The whole result as JSON, even if the tool reports an error. Raises `TaskError`."""
        return await self._sessions[found.server].call(found.tool, arguments, meta, timeout, progress)

    async def close(self) -> None:
        await asyncio.gather(*(session.close() for session in self._sessions.values()))

    async def _known(self, server: str, tool: str) -> None:
        session = self._sessions[server]
        if tool not in await session.tools() and tool not in await session.tools(refresh=True):
            raise errors.not_found(f"{server}:{tool}", "")

    async def _refreshed(self, names: Sequence[str]) -> dict[str, dict[str, dict[str, Any]]]:
        asked = await asyncio.gather(*(self._sessions[name].tools(refresh=True) for name in names))
        return dict(zip(names, asked, strict=True))

    def _in_scope(self, servers: Sequence[str] | None) -> list[str]:
        """Expands groups to their servers. The engine's own tools are always included."""
        if servers is None:
            return list(self._sessions)
        named = [each for name in servers for each in self.groups.get(name, (name,))]
        for name in named:
            if name not in self._sessions:
                raise errors.unavailable(name, "no server or group of this name is configured")
        return list(dict.fromkeys([*named, *(name for name in (OWN,) if name in self._sessions)]))
