"""The engine's own tools in a process without a server: an API is made only for them, and nobody else can reach it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from plait.registry.engine import Engine
from plait.server.app import bare_app
from plait.server.site import Settings, site_of

from .own_tools import own_tools


@asynccontextmanager
async def engine_tools(engine: Engine) -> AsyncGenerator[Any]:
    """Yields a server of the SDK."""
    async with site_of(engine, Settings()) as site, own_tools(site, bare_app(site))() as server:
        yield server
