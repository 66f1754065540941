"""Tools that were promoted from agents' pipelines: list them, and remove them."""

from __future__ import annotations

from plait.agents.promotion.tool_list import PROMOTED_TOOL
from plait.agents.promotion.tool_log import PromotedTool as Promoted
from plait.api.promoted_tool import PromotedTool, PromotedTools
from plait.api.route import Answer, Reply, Route
from plait.api.shape import Deleted, Scoped

from .call import Call


async def list_tools(call: Call[Scoped, None]) -> Answer:
    found = await call.host.engine.tools.of(call.namespace).list()
    return Answer(PromotedTools(tools=[shown(each) for each in found]))


async def remove_tool(call: Call[Scoped, None]) -> Answer:
    name = call.params["name"]
    await call.host.engine.tools.of(call.namespace).remove(name)
    return Answer(Deleted(name=name))


def shown(tool: Promoted) -> PromotedTool:
    return PromotedTool(name=tool.name, hash=tool.hash, uses=tool.uses, steps=tool.steps, promoted_at=tool.at)


ROUTES = (
    Route(
        method="GET",
        path="/agents/tools",
        name="agents.tools",
        role="viewer",
        summary="Tools that pipelines of agents were promoted to",
        handler=list_tools,
        query=Scoped,
        replies=(Reply(200, PromotedTools, "The tools, the oldest first."),),
    ),
    Route(
        method="DELETE",
        path="/agents/tools/{name}",
        name="agents.remove_tool",
        role="editor",
        summary="Remove a promoted tool permanently; its pipeline is not promoted again",
        handler=remove_tool,
        query=Scoped,
        replies=(Reply(200, Deleted, "Removed."),),
        noun=PROMOTED_TOOL,
    ),
)
