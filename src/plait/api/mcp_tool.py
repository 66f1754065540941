"""A tool that Plait offers over MCP: its name, its arguments, and what it does with the API.

The server has its own tools; a dialect adds some in the module `mcp_tools` of its surface. A tool calls the HTTP API
with its caller's rights, so that access, namespaces and the audit log are handled in one place.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from plait.kernel.errors import InvalidInput


class Api(Protocol):
    """The HTTP API as one caller sees it. Paths are below `/api/v1`; raises the errors in the server's responses."""

    async def get(self, path: str, query: Mapping[str, Any] | None = None) -> Any: ...

    async def post(self, path: str, body: Mapping[str, Any], query: Mapping[str, Any] | None = None) -> Any: ...

    async def put(self, path: str, body: Mapping[str, Any]) -> Any: ...

    async def delete(self, path: str) -> Any: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class McpSession:
    """What the requests of one client share."""

    id: str = ""
    """The session's id; empty if each request of the client stands alone."""
    mode: str = ""
    """The mode it was opened for: the part of the path after `/mcp`; see `McpMode`."""
    subject: str = ""
    """The subject it was opened for: the next part of the path."""
    options: Mapping[str, str] = field(default_factory=dict[str, str])
    """The query parameters of its address."""
    origin: str = ""
    """The origin of this server as the client knows it; empty on standard input and output."""
    memory: dict[str, Any] = field(default_factory=dict[str, Any])
    """Data that tools store for the life of the session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    arguments: dict[str, Any]
    api: Api
    session: McpSession
    meta: Mapping[str, Any]
    """The metadata that the client sent with the arguments."""
    report: Callable[[float, float | None, str], Awaitable[None]]
    """Reports progress: how far, out of how much, and a message."""
    wants_progress: bool
    """Whether the client requested progress; otherwise reports go nowhere."""
    announce: Callable[[], Awaitable[None]]
    """Announces that the list of tools has changed."""

    def text(self, name: str) -> str:
        """Returns a required argument."""
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
    """Returns the result as JSON, or `Answered`. A `PlaitError` becomes a result that tells what went wrong."""
    properties: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The JSON Schemas of its arguments, by name."""
    required: Sequence[str] = ()
    read_only: bool = False
    document: Mapping[str, Any] | None = None
    """The whole description of another server's tool, in place of the fields above."""

    @property
    def input_schema(self) -> dict[str, Any]:
        return {"type": "object", "properties": dict(self.properties), "required": [*self.required]}


@dataclass(frozen=True, slots=True)
class Answered:
    """The result of another server's tool, passed on unchanged."""

    result: dict[str, Any]


MoreTools = Callable[[Api, McpSession], Awaitable[Sequence[McpTool]]]
"""Returns tools that change over time, such as one for each saved workflow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class McpMode:
    """Another way to use the server, at `/mcp/<name>` and `/mcp/<name>/<subject>`, that offers only its own tools."""

    name: str
    instructions: str
    tools: MoreTools
