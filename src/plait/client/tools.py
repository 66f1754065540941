"""Promoted tools on a server: the calls of `engine.tools`."""

from __future__ import annotations

from plait.agents.promotion.tool_log import PromotedTool
from plait.api import promoted_tool as shapes
from plait.api.shape import Deleted
from plait.api.transport import Transport
from plait.kernel.ids import DEFAULT_NAMESPACE, check_namespace


class RemoteTools:
    """The tools of one namespace that were promoted from agents' pipelines; `of` returns those of another namespace."""

    def __init__(self, transport: Transport, namespace: str = DEFAULT_NAMESPACE) -> None:
        self._transport = transport
        self.namespace = check_namespace(namespace)

    def of(self, namespace: str) -> RemoteTools:
        return RemoteTools(self._transport, namespace)

    async def list(self) -> list[PromotedTool]:
        """Lists the tools, oldest first."""
        path = self._transport.path("agents", "tools")
        found = await self._transport.get(path, shapes.PromotedTools, {"namespace": self.namespace})
        return [PromotedTool(each.name, each.hash, each.uses, each.steps, each.promoted_at) for each in found.tools]

    async def remove(self, name: str) -> None:
        """Removes a tool and never promotes its pipeline again; durable when this returns."""
        path = self._transport.path("agents", "tools", name)
        await self._transport.delete(path, Deleted, {"namespace": self.namespace})
