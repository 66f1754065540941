"""The tools that the engine itself has for steps of its runs: the MCP server `plait`.

They do what the HTTP API does, which is above the engine; so it is named here, and imported when the first step looks
for a tool.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any, Final

from plait.engine import Engine
from plait.extras import extra

_MODULE: Final = "plait.server.mcp.engine_tools"


@asynccontextmanager
async def own_tools(engine: Engine) -> AsyncGenerator[Any]:
    with extra("server", "The engine's own tools"):
        module = await asyncio.to_thread(import_module, _MODULE)  # it takes a while, and the loop has more to do
    async with module.engine_tools(engine) as server:
        yield server
