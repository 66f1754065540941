"""What the dialect adds to the MCP server: saved workflows, their executions, and one start tool for each workflow."""

from __future__ import annotations

from collections.abc import Sequence

from plait.api.mcp_tool import Api, McpMode, McpSession, McpTool

from .execution_tools import EXECUTION_TOOLS
from .recording_mcp.control_tools import CONTROL_TOOLS
from .recording_mcp.instructions import INSTRUCTIONS
from .recording_mcp.proxy import bound_run, recorded_tools, recording_tools
from .start_tools import start_tools
from .workflow_tools import WORKFLOW_TOOLS

tools: tuple[McpTool, ...] = (*WORKFLOW_TOOLS, *EXECUTION_TOOLS, *CONTROL_TOOLS)
modes: tuple[McpMode, ...] = (McpMode(name="record", instructions=INSTRUCTIONS, tools=recording_tools),)


async def more_tools(api: Api, session: McpSession) -> Sequence[McpTool]:
    """A recording session also gets the tools of other servers."""
    recorded = await recorded_tools(api, session) if bound_run(session) else []
    return [*await start_tools(api), *recorded]
