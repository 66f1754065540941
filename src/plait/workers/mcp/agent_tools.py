"""Tools of MCP servers as tools of agents: a node names them as `server:TOOL`, or all of a server by `server:*`."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from plait.agents.tools.names import WORKFLOW, AllowedTools, called
from plait.agents.tools.tool import ToolFault, ToolUse
from plait.kernel.ids import RunId, caller_id
from plait.kernel.task import TaskError

from .lookup import Found
from .output import error_text, output_of
from .servers import McpServers
from .settings import OWN

_SECONDS: Final = 60.0
_log = logging.getLogger("plait.agents")


class McpTool:
    def __init__(self, servers: McpServers, found: Found, described: Mapping[str, Any]) -> None:
        self._servers = servers
        self._found = found
        self.name = called(found.server, found.tool)
        self.description = str(described.get("description") or "")
        schema: Any = described.get("inputSchema")
        self.parameters: Mapping[str, Any] = (
            cast("dict[str, Any]", schema) if isinstance(schema, dict) else {"type": "object"}
        )

    async def call(self, arguments: Mapping[str, Any], use: ToolUse) -> Any:
        meta = {"plait/run": caller_id(RunId(use.run_id)), "plait/idempotency-key": use.key}
        try:
            result = await self._servers.call(self._found, dict(arguments), meta, _SECONDS, _unreported)
        except TaskError as error:
            raise ToolFault(str(error)) from error
        if result.get("isError"):
            raise ToolFault(f"{self.name} returned an error: {error_text(result)}"[:1_000])
        return output_of(result)


class McpTools:
    """The agents' view of the servers. One that is unavailable has no tools for now: the agent uses the others."""

    def __init__(self, servers: McpServers) -> None:
        self._servers = servers

    async def tools(self, namespace: str, allowed: AllowedTools) -> Sequence[McpTool]:
        named = sorted(allowed.sources() & {*self._servers.names} - {WORKFLOW, OWN})
        if not named:
            return []
        offered, unavailable = await self._servers.offered(named)
        for problem in unavailable.values():
            _log.warning("an agent goes on without some tools: %s", problem)
        return [
            McpTool(self._servers, Found(server, tool), described)
            for server, tools in offered.items()
            for tool, described in tools.items()
            if server != OWN and f"{server}:{tool}" in allowed
        ]


async def _unreported(progress: float, total: float | None, message: str | None) -> None:
    """Ignores the progress of a call inside a turn."""
