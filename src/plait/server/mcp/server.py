"""The tools as a server of the SDK. It is independent of transports: each request brings its caller."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Final, cast

import mcp_types
import msgspec
from mcp.server.lowlevel import Server
from mcp.server.lowlevel.server import NotificationOptions
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from plait.api.mcp_tool import Answered, Api, McpSession, McpTool, ToolCall
from plait.engine import Engine
from plait.kernel.errors import InvalidInput, PlaitError
from plait.kernel.ids import DEFAULT_NAMESPACE
from plait.kernel.version import __version__

from .announcements import Announcements
from .registry import ToolRegistry

ApiOf = Callable[[Any], Api]
"""Returns the API as the caller of a request sees it."""
SessionOf = Callable[[Any], McpSession]
NamespaceOf = Callable[[Any], str]

_INSTRUCTIONS: Final = (
    "Plait runs durable workflows. DEFINITION_LIST shows what can be started, RUN_START starts it, RUN_WAIT waits for "
    "it, RUN_GET shows a run. Runs that ask people are in APPROVAL_LIST; APPROVAL_DECIDE answers them."
)


def _default_namespace(context: Any) -> str:
    return DEFAULT_NAMESPACE


class PlaitServer:
    def __init__(
        self,
        engine: Engine,
        api_of: ApiOf,
        session_of: SessionOf,
        mode: str = "",
        namespace_of: NamespaceOf = _default_namespace,
    ) -> None:
        registry = ToolRegistry.of(engine)
        self._registry = registry
        self._api_of = api_of
        self._session_of = session_of
        self._namespace_of = namespace_of
        self._announcements = Announcements(engine.definitions.revision, lambda: engine.executors.mcp.changes)
        self.sdk: Server[Any] = Server(
            "plait",
            version=__version__,
            instructions=registry.modes[mode].instructions if mode else _INSTRUCTIONS,
            on_list_tools=self._list,
            on_call_tool=self._call,
            on_subscriptions_listen=self._listen,
        )

    @asynccontextmanager
    async def announcing(self) -> AsyncGenerator[None]:
        """Announces changes of tools to clients while the context is open."""
        watching = asyncio.create_task(self._announcements.watch(), name="plait-mcp-announcements")
        try:
            yield
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)

    def keep_sessions(self) -> None:
        """Makes newer clients open a session too, for a mode that must know which requests belong together."""

        async def discover(context: Any, params: Any) -> mcp_types.DiscoverResult:
            return mcp_types.DiscoverResult(
                supported_versions=[*HANDSHAKE_PROTOCOL_VERSIONS],
                capabilities=self.sdk.get_capabilities(NotificationOptions(tools_changed=True)),
                instructions=self.sdk.instructions,
            )

        self.sdk.add_request_handler("server/discover", mcp_types.RequestParams, discover)

    def options(self) -> Any:
        """Returns options for transports that take them: they announce that tools may change."""
        return self.sdk.create_initialization_options(NotificationOptions(tools_changed=True))

    async def _listen(self, context: Any, params: Any) -> Any:
        return await self._announcements.listen(self._namespace_of(context), context, params)

    async def _list(self, context: Any, params: Any) -> mcp_types.ListToolsResult:
        session = self._session_of(context)
        await self._announcements.note(session, context.session, self._namespace_of(context))
        found = await self._registry.listed(self._api_of(context), session)
        return mcp_types.ListToolsResult(tools=[_described(tool) for tool in found])

    async def _call(self, context: Any, params: mcp_types.CallToolRequestParams) -> mcp_types.CallToolResult:
        api, session, namespace = self._api_of(context), self._session_of(context), self._namespace_of(context)
        await self._announcements.note(session, context.session, namespace)
        try:
            tool = await self._registry.find(params.name, api, session)
            if tool is None:
                raise InvalidInput("mcp.unknown_tool", f"there is no tool {params.name[:200]!r}", fix="list the tools")
            meta = cast("Mapping[str, Any]", params.meta or {})
            call = ToolCall(
                arguments=params.arguments or {},
                api=api,
                session=session,
                meta=meta,
                wants_progress=meta.get("progress_token", meta.get("progressToken")) is not None,
                report=context.session.report_progress,
                announce=partial(self._announcements.tell, session, context.session, namespace),
            )
            return _result(await tool.handler(call))
        except PlaitError as error:
            return _failure(error)


def _described(tool: McpTool) -> mcp_types.Tool:
    if tool.document is not None:
        return mcp_types.Tool.model_validate(tool.document)
    return mcp_types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=tool.input_schema,
        annotations=mcp_types.ToolAnnotations(read_only_hint=tool.read_only),
    )


def _result(value: Any) -> mcp_types.CallToolResult:
    if isinstance(value, Answered):
        return mcp_types.CallToolResult.model_validate(value.result)
    text = mcp_types.TextContent(text=msgspec.json.encode(value).decode())
    structured = cast("dict[str, Any]", value) if isinstance(value, dict) else {"result": value}
    return mcp_types.CallToolResult(content=[text], structured_content=structured)


def _failure(error: PlaitError) -> mcp_types.CallToolResult:
    problem = {"code": error.code, "message": error.text, "status": error.status}
    if error.flaws:
        problem["errors"] = msgspec.to_builtins(error.flaws)
    text = mcp_types.TextContent(text=msgspec.json.encode(problem).decode())
    return mcp_types.CallToolResult(content=[text], is_error=True)
