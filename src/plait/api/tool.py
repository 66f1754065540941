"""Tools of the MCP servers that the operator configured."""

from __future__ import annotations

from typing import Any

from .shape import Name, Query, Shape


class Tool(Shape, frozen=True, kw_only=True):
    server: str
    name: str
    description: dict[str, Any]
    """Its server's description: `name`, `inputSchema`, `annotations` and more."""


class ToolList(Shape, frozen=True, kw_only=True):
    tools: list[Tool]
    """The tools, ordered by server and name."""
    servers: list[str]
    """All configured servers."""
    groups: dict[str, list[str]] = {}
    """Groups of servers, by name."""
    unavailable: dict[str, str] = {}
    """Servers that could not be reached, with the reason."""


class ListTools(Query, frozen=True, kw_only=True):
    server: Name | None = None
    """Lists only the tools of this server."""
