"""The tools that steps may call, from the MCP servers that the operator configured."""

from __future__ import annotations

from plait.api.route import Answer, Fault, Reply, Route
from plait.api.tool import ListTools, Tool, ToolList
from plait.kernel.errors import NotFound

from .call import Call

_UNKNOWN = Fault(404, "mcp.no_server", "No MCP server of that name is configured.")


async def list_tools(call: Call[ListTools, None]) -> Answer:
    mcp, wanted = call.host.engine.executors.mcp, call.query.server
    if wanted is not None and wanted not in mcp.names:
        raise NotFound(_UNKNOWN.code, f"no MCP server `{wanted}` is configured", fix="`servers` lists those there are")
    offered, unavailable = await mcp.offered(None if wanted is None else [wanted])
    tools = [
        Tool(server=server, name=name, description=dict(found))
        for server, known in sorted(offered.items())
        for name, found in sorted(known.items())
        if wanted in (None, server)
    ]
    why = {name: str(error) for name, error in unavailable.items()}
    return Answer(ToolList(tools=tools, servers=mcp.names, groups=mcp.groups, unavailable=why))


ROUTES = (
    Route(
        method="GET",
        path="/tools",
        name="tools.list",
        role="viewer",
        summary="Tools of MCP servers that steps may call",
        handler=list_tools,
        query=ListTools,
        replies=(Reply(200, ToolList, "The tools; servers that could not be asked are listed, too."),),
        faults=(_UNKNOWN,),
    ),
)
