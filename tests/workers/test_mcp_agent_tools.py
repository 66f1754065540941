"""Tools of MCP servers that agents may use: only those that a node names, under names of their own."""

from __future__ import annotations

from typing import Any, cast

import pytest

from plait.agents.tools.names import AllowedTools
from plait.agents.tools.tool import ToolFault
from plait.kernel.task import TaskError
from plait.workers.mcp.agent_tools import McpTools
from tests.agents.tools.building import use

SCHEMA = {"type": "object", "properties": {"id": {"type": "string"}}}


class Servers:
    """What the sessions offer, without any."""

    names = ("crm", "plait", "workflow")

    def __init__(self, result: dict[str, Any] | None = None) -> None:
        self.result = result or {"structuredContent": {"ok": True}, "content": []}
        self.calls: list[Any] = []

    async def offered(self, servers: Any) -> tuple[dict[str, Any], dict[str, TaskError]]:
        tools = {"find": {"description": "Finds.", "inputSchema": SCHEMA}, "execute_pipeline": {}, "drop": {}}
        return dict.fromkeys(servers, tools), {"mail": TaskError("MCP server is not available", retryable=True)}

    async def call(self, *given: Any) -> dict[str, Any]:
        self.calls.append(given)
        return self.result


async def offered(*references: str, servers: Any = None) -> list[Any]:
    return list(await McpTools(cast("Any", servers or Servers())).tools("default", AllowedTools(references)))


async def test_only_the_tools_that_a_node_names_are_offered() -> None:
    assert [tool.name for tool in await offered("crm:find")] == ["crm__find"]
    assert {tool.name for tool in await offered("crm:*")} == {"crm__find", "crm__execute_pipeline", "crm__drop"}


@pytest.mark.parametrize(
    "reference", ["find", "plait:*", "plait:find", "workflow:find", "other:find", "*", "execute_pipeline"]
)
async def test_other_references_name_no_tool_of_a_server(reference: str) -> None:
    assert await offered(reference) == []


async def test_a_call_carries_the_idempotency_key_and_gives_the_output() -> None:
    servers = Servers()
    (tool,) = await offered("crm:find", servers=servers)
    assert await tool.call({"id": "7"}, use(key="x1/2/0")) == {"ok": True}
    assert servers.calls[0][2]["plait/idempotency-key"] == "x1/2/0"


async def test_an_error_of_the_tool_goes_to_the_model() -> None:
    failing = Servers({"isError": True, "content": [{"type": "text", "text": "no such customer"}]})
    (tool,) = await offered("crm:find", servers=failing)
    with pytest.raises(ToolFault, match="no such customer"):
        await tool.call({}, use())
