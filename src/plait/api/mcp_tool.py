"""A tool that Plait offers over MCP: what it is called, what it takes, and what it does with the API.

The server has tools of its own; a dialect adds some in the module `mcp_tools` of its surface. A tool speaks to the
HTTP API with the rights of whoever called it, so that there is one place for access, namespaces and the audit log.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from plait.kernel.errors import InvalidInput


class Api(Protocol):
    """The HTTP API as one caller sees it. Paths are below `/api/v1`; raises the errors that the server answers."""

    async def get(self, path: str, query: Mapping[str, Any] | None = None) -> Any: ...

    async def post(self, path: str, body: Mapping[str, Any], query: Mapping[str, Any] | None = None) -> Any: ...

    async def put(self, path: str, body: Mapping[str, Any]) -> Any: ...

    async def delete(self, path: str) -> Any: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class McpSession:
    """What the requests of one client have in common."""

    id: str = ""
    """Empty if there is nothing: each request of its client stands alone."""
    mode: str = ""
    """What it was opened for: the part of the path behind `/mcp`; see `McpMode`."""
    subject: str = ""
    """And about what: the next part."""
    options: Mapping[str, str] = field(default_factory=dict[str, str])
    """Parameters of its address."""
    origin: str = ""
    """Of this server, as the client knows it; empty on standard input and output."""
    memory: dict[str, Any] = field(default_factory=dict[str, Any])
    """What tools keep for as long as it lasts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    arguments: dict[str, Any]
    api: Api
    session: McpSession
    meta: Mapping[str, Any]
    """What the client said beside the arguments."""
    report: Callable[[float, float | None, str], Awaitable[None]]
    """Progress: how far, of how much, and in words."""
    wants_progress: bool
    """Whether the client asked for that; else nobody hears it."""
    announce: Callable[[], Awaitable[None]]
    """The tools are others now."""

    def text(self, name: str) -> str:
        """An argument that must be there."""
        found = self.arguments.get(name)
        if not isinstance(found, str) or not found:
            raise InvalidInput("mcp.bad_arguments", f"`{name}` is missing", fix=f"give `{name}` as a text")
        return found

    def number(self, name: str, otherwise: int) -> int:
        found = self.arguments.get(name, otherwise)
        if not isinstance(found, int) or isinstance(found, bool) or found < 0:
            raise InvalidInput("mcp.bad_arguments", f"`{name}` is not a number", fix=f"give `{name}` as 0 or more")
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class McpTool:
    name: str
    description: str
    handler: Callable[[ToolCall], Awaitable[Any]]
    """What it returns is the result as JSON, or `Answered`. A `PlaitError` is a result that says what went wrong."""
    properties: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """JSON Schemas of its arguments, by name."""
    required: Sequence[str] = ()
    read_only: bool = False
    document: Mapping[str, Any] | None = None
    """Of a tool of another server: all of its description, in place of the above."""

    @property
    def input_schema(self) -> dict[str, Any]:
        return {"type": "object", "properties": dict(self.properties), "required": [*self.required]}


@dataclass(frozen=True, slots=True)
class Answered:
    """The result of another server's tool, which is handed on as it is."""

    result: dict[str, Any]


MoreTools = Callable[[Api, McpSession], Awaitable[Sequence[McpTool]]]
"""Tools that there are only now, such as one for each saved workflow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class McpMode:
    """Another way to use the server, at `/mcp/<name>` and `/mcp/<name>/<subject>`: with tools of its own alone."""

    name: str
    instructions: str
    tools: MoreTools
