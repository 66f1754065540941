"""Promoted pipelines as tools of agents."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from plait.agents.tools.names import PROMOTED, AllowedTools
from plait.agents.tools.tool import ToolUse

from .promotable import description_of, filled, parameters_of
from .promotions import Promotions
from .tool_log import PromotedTool

RunPipeline = Callable[[list[dict[str, Any]], ToolUse], Awaitable[Any]]
"""Executes a pipeline on the agent's payload, like `execute_pipeline`, but without counting it as a use."""

MOST_OFFERED: Final = 200
"""Tools of a namespace offered to one execution; `search_tools` finds the others."""


class PipelineTool:
    def __init__(self, promoted: PromotedTool, run: RunPipeline) -> None:
        self.promoted = promoted
        self.name = promoted.name
        self.description = description_of(promoted.steps)
        self.parameters: Mapping[str, Any] = parameters_of(promoted.steps)
        self._run = run

    async def call(self, arguments: Mapping[str, Any], use: ToolUse) -> Any:
        return await self._run(filled(self.promoted.steps, arguments), use)


class PromotedTools:
    """Offers the newest ones to agents that may use `execute_pipeline`; also any tool that a node names, however
    old."""

    def __init__(self, promotions: Promotions, run: RunPipeline, most: int = MOST_OFFERED) -> None:
        self._promotions = promotions
        self._run = run
        self._most = most

    async def tools(self, namespace: str, allowed: AllowedTools) -> Sequence[PipelineTool]:
        if "execute_pipeline" not in allowed and not any(name.startswith(PROMOTED) for name in allowed.names):
            return []
        known = await self._promotions.list(namespace)
        named = [each for each in known if each.name in allowed]
        newest = known[-self._most :] if "execute_pipeline" in allowed else []
        chosen = {each.name: each for each in [*named, *reversed(newest)]}
        return [PipelineTool(each, self._run) for each in [*chosen.values()][: self._most]]
