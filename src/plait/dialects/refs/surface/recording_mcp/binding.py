"""The recording of a session: the one in its address, or the one that it has started."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote

from plait.api.mcp_tool import McpSession
from plait.kernel.errors import NotFound

MODE: Final = "record"
_RUN: Final = "recording"


def bound_run(session: McpSession) -> str:
    """Empty if there is none yet."""
    return session.memory.get(_RUN) or session.subject


def bind(session: McpSession, run: str) -> None:
    """Binds the session to a recording: the last that it started."""
    session.memory.clear()
    session.memory[_RUN] = run


def must_be_bound(session: McpSession, named: Any = None) -> str:
    found = named or bound_run(session)
    if not isinstance(found, str) or not found:
        raise NotFound(
            "recording_not_found",
            "this session has no recording",
            fix="name one with `executionId`, or start one with WORKFLOW_RECORDING_START",
        )
    return found


def url_of(session: McpSession, run: str) -> str:
    """The address where other clients can feed the recording."""
    return f"{session.origin}/mcp/{MODE}/{quote(run, safe='')}" if session.origin else f"plait mcp --record {run}"
