"""The proxy: tools of other servers, whose calls become steps of the session's recording."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from typing import Any, Final
from uuid import uuid4

import anyio

from plait.api.mcp_tool import Answered, Api, McpSession, McpTool, ToolCall
from plait.dialects.refs.recordings import Called
from plait.kernel.errors import InvalidInput, PlaitError

from .api_host import recordings_of
from .binding import bind, bound_run
from .control_tools import CONTROL_TOOLS
from .progress import with_progress
from .shown_tools import ShownTool, shown_tools

_KEY: Final = "plait/idempotency-key"
_SERVERS: Final = "servers"
_OPENING: Final = "opening"


async def recording_tools(api: Api, session: McpSession) -> Sequence[McpTool]:
    """All tools of a session at `/mcp/record`."""
    return [*await recorded_tools(api, session), *CONTROL_TOOLS]


async def recorded_tools(api: Api, session: McpSession) -> list[McpTool]:
    """The tools of the recording's servers; none if there is no such recording."""
    try:
        servers = await _servers(api, session)
    except PlaitError:
        return []
    listed = await api.get("/tools")
    groups: dict[str, list[str]] = listed.get("groups") or {}
    if servers is not None:
        servers = [each for name in servers for each in groups.get(name, (name,))]
    offered: dict[str, dict[str, Any]] = {}
    for tool in listed["tools"]:
        if servers is None or tool["server"] in servers:
            offered.setdefault(tool["server"], {})[tool["name"]] = tool["description"]
    return [
        McpTool(name=shown.name, description="", handler=partial(_record, shown), document=shown.document())
        for shown in shown_tools(offered, servers).values()
    ]


async def _servers(api: Api, session: McpSession) -> Sequence[str] | None:
    """The servers that the recording was started for; they never change."""
    run = bound_run(session)
    if not run:
        return None
    if _SERVERS not in session.memory:
        found = (await recordings_of(api).draft(run)).definition.get("servers")
        if not session.id:
            return found
        session.memory[_SERVERS] = found
    return session.memory[_SERVERS]


async def _record(tool: ShownTool, call: ToolCall) -> Answered:
    run = await _open(call)
    recordings = recordings_of(call.api)
    key = _key(call.meta.get(_KEY))
    try:
        asking = recordings.call(
            run,
            tool.name,
            call.arguments,
            key=key,
            server=tool.server,
            bare=tool.bare,
            session=call.session.id,
            read_only=tool.read_only,
        )
        called = await with_progress(call, run, key, asking)
    except asyncio.CancelledError:
        with anyio.CancelScope(shield=True):
            await recordings.cancel(run, key)
        raise
    return Answered(_result(called, annotate=call.session.options.get("annotate") == "text"))


async def _open(call: ToolCall) -> str:
    """The session's recording; its first call starts one if it has none."""
    session = call.session
    if not session.id and not session.subject:
        fix = "start a recording with WORKFLOW_RECORDING_START, and connect to its `url`"
        raise InvalidInput("recording_not_found", "this client opens no session, so it has no recording", fix=fix)
    async with session.memory.setdefault(_OPENING, asyncio.Lock()):
        run = bound_run(session)
        if not run:
            run = await recordings_of(call.api).start()
            bind(session, run)
        return run


def _key(given: Any) -> str:
    """Uses the client's own key, if it has one: repeated, it is the same call."""
    return f"call-{sha256(str(given).encode()).hexdigest()}" if given is not None else f"call-{uuid4().hex}"


def _result(called: Called, *, annotate: bool) -> dict[str, Any]:
    """The server's answer, with only its metadata changed."""
    found: dict[str, Any] = {**(called.result or _failure(called))}
    meta: dict[str, Any] = {**(found.get("_meta") or {}), "plait/run": called.run, "plait/step": called.step}
    if annotate:
        note = {"type": "text", "text": f"Recorded as step {called.step}; refer to its result with @{called.step}."}
        found["content"] = [*(found.get("content") or []), note]
    return {**found, "_meta": meta}


def _failure(called: Called) -> dict[str, Any]:
    """The result of a call that no server has answered."""
    error = called.error or {"code": "failed", "message": "it failed"}
    return {"content": [{"type": "text", "text": f"{error['message']} [{error['code']}]"}], "isError": True}
