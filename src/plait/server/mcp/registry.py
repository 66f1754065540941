"""All tools: the server's own and those of the dialects' surfaces."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from plait.api.mcp_tool import Api, McpMode, McpSession, McpTool, MoreTools
from plait.api.surface import surface_module
from plait.engine import Engine

from . import run_tools


class ToolRegistry:
    def __init__(self, tools: Sequence[McpTool], more: Sequence[MoreTools], modes: Sequence[McpMode] = ()) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._more = more
        self.modes = {mode.name: mode for mode in modes}

    @classmethod
    def of(cls, engine: Engine) -> ToolRegistry:
        """Collects `tools`, `more_tools` and `modes` from the modules `mcp_tools` in the surfaces of the engine's
        dialects."""
        named = {name: bundle.surface for name, bundle in engine.bundles.items() if bundle.surface}
        modules = [module for name, place in named.items() if (module := surface_module(name, place, "mcp_tools"))]
        tools = [tool for module in modules for tool in _tools(module)]
        more = [more for module in modules if (more := _more(module)) is not None]
        return cls([*run_tools.TOOLS, *tools], more, [mode for module in modules for mode in _modes(module)])

    async def listed(self, api: Api, session: McpSession) -> list[McpTool]:
        """Lists the current tools of this caller."""
        if session.mode:
            return [*await self.modes[session.mode].tools(api, session)]
        found = [*self._tools.values()]
        for more in self._more:
            found += [tool for tool in await more(api, session) if tool.name not in self._tools]
        return found

    async def find(self, name: str, api: Api, session: McpSession) -> McpTool | None:
        if not session.mode and (known := self._tools.get(name)) is not None:
            return known
        return next((tool for tool in await self.listed(api, session) if tool.name == name), None)


def _tools(module: ModuleType) -> Sequence[McpTool]:
    return getattr(module, "tools", ())


def _more(module: ModuleType) -> Any:
    return getattr(module, "more_tools", None)


def _modes(module: ModuleType) -> Sequence[McpMode]:
    return getattr(module, "modes", ())
