"""`engine.tools`: the tools that pipelines were promoted to."""

from __future__ import annotations

from typing import Final

from plait.api.noun import Noun
from plait.kernel.events import Recorded
from plait.kernel.ids import DEFAULT_NAMESPACE, check_namespace

from .promotions import Promotions
from .tool_log import PromotedTool

PROMOTED_TOOL: Final = Noun(
    "tool", "agent.no_tool", "there is no promoted tool `{}`", fix="`plait tools` lists them", max_length=200
)


class ToolList:
    """Tools of one namespace; `of` returns those of another."""

    def __init__(self, promotions: Promotions, namespace: str = DEFAULT_NAMESPACE) -> None:
        self._promotions = promotions
        self.namespace = check_namespace(namespace)

    def of(self, namespace: str) -> ToolList:
        return ToolList(self._promotions, namespace)

    async def list(self) -> list[PromotedTool]:
        """Oldest first."""
        return await self._promotions.list(self.namespace)

    async def remove(self, name: str) -> None:
        """Removes a tool; its pipeline is never promoted again. Durable when this returns."""
        if not await self._promotions.remove(self.namespace, name):
            raise PROMOTED_TOOL.missing(name)

    async def events(self, after: int = 0, limit: int | None = None) -> list[Recorded]:
        """`tool.promoted` and `tool.removed`, after event `after`."""
        return await self._promotions.events(self.namespace, after, limit)
