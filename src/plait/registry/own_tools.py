"""The engine's own tools for steps of its runs: the MCP server `plait`.

They call the HTTP API, which is a layer above the engine; so it is only named here, and imported when the first step
needs a tool.
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
        module = await asyncio.to_thread(import_module, _MODULE)  # the import is slow and must not block the event loop
    async with module.engine_tools(engine) as server:
        yield server
