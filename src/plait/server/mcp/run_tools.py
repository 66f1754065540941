"""Tools for runs, approvals and definitions of every dialect."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote

from plait.api.mcp_tool import McpTool, ToolCall
from plait.api.run_waiting import run_path, wait_for_run

_TEXT: Final = {"type": "string"}
_COUNT: Final = {"type": "integer", "minimum": 0}
_ID: Final = {"type": "string", "description": "The id of the run."}
_PAGE: Final = {"limit": {"type": "integer", "minimum": 1, "maximum": 500}, "cursor": _TEXT}


def _given(call: ToolCall, *names: str) -> dict[str, Any]:
    return {name: call.arguments[name] for name in names if call.arguments.get(name) is not None}


def _seen(detail: dict[str, Any]) -> dict[str, Any]:
    """A run without the data of its drawing."""
    nodes = detail["view"]["nodes"]
    fields = ("id", "kind", "status", "output", "error")
    steps = [{name: node[name] for name in fields if name in node} for node in nodes]
    shown = {name: detail.get(name) for name in ("run", "input", "output", "waiting", "actions")}
    return {**shown, "steps": steps}


async def _list(call: ToolCall) -> Any:
    return await call.api.get("/runs", _given(call, "status", "dialect", "definition", "q", "limit", "cursor"))


async def _get(call: ToolCall) -> Any:
    return _seen(await call.api.get(run_path(call.text("id"))))


async def _start(call: ToolCall) -> Any:
    body = _given(call, "definition", "dialect", "input", "id", "deadline_ms", "labels")
    started = await call.api.post("/runs", body)
    if not call.arguments.get("wait"):
        return started
    return _seen(await wait_for_run(call, started["id"], call.arguments.get("timeoutMs")))


async def _wait(call: ToolCall) -> Any:
    timeout = call.number("timeoutMs", 0) or None
    return _seen(await wait_for_run(call, call.text("id"), timeout))


async def _cancel(call: ToolCall) -> Any:
    return await call.api.post(run_path(call.text("id"), "cancel"), _given(call, "reason", "compensate"))


async def _retry(call: ToolCall) -> Any:
    return await call.api.post(run_path(call.text("id"), "retry"), _given(call, "from"))


async def _message(call: ToolCall) -> Any:
    return await call.api.post(run_path(call.text("id"), "messages"), _given(call, "name", "body", "wait_ms"))


async def _approvals(call: ToolCall) -> Any:
    return await call.api.get("/approvals", _given(call, "run", "status", "limit", "cursor"))


async def _decide(call: ToolCall) -> Any:
    path = f"/approvals/{quote(call.text('id'), safe='')}/decide"
    return await call.api.post(path, _given(call, "decision", "comment", "data", "by", "evidence_hash"))


async def _definitions(call: ToolCall) -> Any:
    return await call.api.get("/definitions", _given(call, "dialect"))


TOOLS: Final = (
    McpTool(
        name="RUN_LIST",
        description="List runs of all dialects, newest first.",
        properties={**_PAGE, "status": _TEXT, "dialect": _TEXT, "definition": _TEXT, "q": _TEXT},
        handler=_list,
        read_only=True,
    ),
    McpTool(
        name="RUN_GET",
        description="Show a run: its status, input, output, steps, and what it waits for.",
        properties={"id": _ID},
        required=["id"],
        handler=_get,
        read_only=True,
    ),
    McpTool(
        name="RUN_START",
        description=(
            "Start a run. `definition` is the name of a saved definition (`name`, `name@version`, `name@tag`), or the "
            "definition itself with its `dialect`. With `wait`, the call ends with the run and reports progress."
        ),
        properties={
            "definition": {"type": ["string", "object"]},
            "dialect": _TEXT,
            "input": {},
            "id": {**_ID, "description": "Generated if left empty. The same id again is the same run."},
            "deadline_ms": _COUNT,
            "labels": {"type": "object"},
            "wait": {"type": "boolean"},
            "timeoutMs": _COUNT,
        },
        required=["definition"],
        handler=_start,
    ),
    McpTool(
        name="RUN_WAIT",
        description="Wait until a run has ended, at most `timeoutMs`; reports progress.",
        properties={"id": _ID, "timeoutMs": _COUNT},
        required=["id"],
        handler=_wait,
        read_only=True,
    ),
    McpTool(
        name="RUN_CANCEL",
        description="Cancel a run; `compensate` undoes its completed steps first.",
        properties={"id": _ID, "reason": _TEXT, "compensate": {"type": "boolean"}},
        required=["id"],
        handler=_cancel,
    ),
    McpTool(
        name="RUN_RETRY",
        description="Retry a failed run where it failed, or from a step.",
        properties={"id": _ID, "from": _TEXT},
        required=["id"],
        handler=_retry,
    ),
    McpTool(
        name="RUN_MESSAGE",
        description="Send a message to a run; `wait_ms` waits for its answer.",
        properties={"id": _ID, "name": _TEXT, "body": {}, "wait_ms": _COUNT},
        required=["id", "name"],
        handler=_message,
    ),
    McpTool(
        name="APPROVAL_LIST",
        description='List what runs ask people: open approvals, or all with `status` "all".',
        properties={**_PAGE, "run": _ID, "status": _TEXT},
        handler=_approvals,
        read_only=True,
    ),
    McpTool(
        name="APPROVAL_DECIDE",
        description="Approve or reject. `data` is what the approval's form asks for.",
        properties={
            "id": _TEXT,
            "decision": {"enum": ["approve", "reject"]},
            "comment": _TEXT,
            "data": {},
            "by": {**_TEXT, "description": "Who decides, on a server without keys."},
            "evidence_hash": _TEXT,
        },
        required=["id", "decision"],
        handler=_decide,
    ),
    McpTool(
        name="DEFINITION_LIST",
        description="List what can be started, of all dialects, with versions and input schemas.",
        properties={"dialect": _TEXT},
        handler=_definitions,
        read_only=True,
    ),
)
