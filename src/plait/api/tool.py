"""Tools of the MCP servers that the operator configured."""

from __future__ import annotations

from typing import Any

from .shape import Name, Query, Shape


class Tool(Shape, frozen=True, kw_only=True):
    server: str
    name: str
    description: dict[str, Any]
    """As its server describes it: `name`, `inputSchema`, `annotations` and more."""


class ToolList(Shape, frozen=True, kw_only=True):
    tools: list[Tool]
    """By server and name."""
    servers: list[str]
    """All that are configured."""
    groups: dict[str, list[str]] = {}
    """Names that stand for several servers."""
    unavailable: dict[str, str] = {}
    """Servers that could not be asked, with why."""


class ListTools(Query, frozen=True, kw_only=True):
    server: Name | None = None
    """Only those of this server."""
