"""`COLLECTION_WORKFLOW_EXECUTION_…`: runs of workflows, in the terms of the collection."""

from __future__ import annotations

from typing import Any, Final

from plait.api.mcp_tool import McpTool, ToolCall
from plait.api.run_waiting import run_path, wait_for_run
from plait.dialects.refs.names import NAME
from plait.kernel.errors import InvalidInput, NotFound, PlaitError

_STATUSES: Final = {"completed": "success", "failed": "error", "cancelled": "cancelled", "running": "running"}
_FILTERS: Final = {"success": "completed", "error": "failed", "cancelled": "cancelled", "running": "running"}
_MOST: Final = 500
_COUNTED: Final = 10_000
"""The most executions counted; beyond that, `totalCount` is this number, or the end of the requested page."""
_EXECUTION: Final = {"executionId": {"type": "string"}}


def status_of(detail: dict[str, Any]) -> str:
    """`enqueued` before a delayed start."""
    run = detail["run"]
    if run["status"] == "running" and any(
        reason.get("short") == "delayed start" for reason in detail.get("waiting", [])
    ):
        return "enqueued"
    return _STATUSES[run["status"]]


def item_of(detail: dict[str, Any]) -> dict[str, Any]:
    run, nodes = detail["run"], [node for node in detail["view"]["nodes"] if node["kind"] != "input"]
    top = [node for node in nodes if not node.get("parent")]
    done = [
        {"name": node["id"], "completed_at_epoch_ms": node.get("ended_at")}
        for node in top
        if node["status"] == "completed"
    ]
    return {
        "id": run["id"],
        "status": status_of(detail),
        "workflow_collection_id": run["definition"],
        "input": detail.get("input"),
        "output": detail.get("output"),
        "error": run.get("error", {}).get("message") if run.get("error") else None,
        "created_at_epoch_ms": run["created_at"],
        "completed_at_epoch_ms": run.get("ended_at"),
        "running_steps": [node["id"] for node in top if node["status"] in ("running", "retrying", "waiting")],
        "completed_steps": {"success": done, "error": [node["id"] for node in top if node["status"] == "failed"]},
    }


async def start(call: ToolCall, workflow: str) -> dict[str, Any]:
    """Starts a saved workflow with the arguments of a call."""
    given = call.arguments
    more = {name: given[name] for name in ("presets", "start_at_epoch_ms") if given.get(name) is not None}
    if given.get("virtual_mcp_id"):
        more["servers"] = [given["virtual_mcp_id"]]
    body: dict[str, Any] = {"definition": {"use": workflow, **more} if more else workflow, "dialect": NAME}
    if "input" in given:
        body["input"] = given["input"]
    if given.get("timeoutMs") is not None:
        body["deadline_ms"] = given["timeoutMs"]
    return await call.api.post("/runs", body)


async def _create(call: ToolCall) -> Any:
    started = await start(call, call.text("workflow_collection_id"))
    if not call.arguments.get("wait"):
        return {"item": {"id": started["id"]}}
    detail = await wait_for_run(call, started["id"])
    item = item_of(detail)
    return {"item": {name: item[name] for name in ("id", "status", "output", "error")}}


async def _list(call: ToolCall) -> Any:
    """Reads past the pages before the offset, because the API only has cursors."""
    offset, limit = call.number("offset", 0), min(call.number("limit", 50), _MOST)
    status = call.arguments.get("status")
    if status is not None and status not in _FILTERS:
        known = ", ".join(_FILTERS)
        raise InvalidInput("mcp.bad_arguments", f"there is no status {status!r}", fix=f"use one of {known}")
    query: dict[str, Any] = {
        "dialect": NAME,
        "limit": _MOST,
        "status": None if status is None else _FILTERS[status],
        "definition": call.arguments.get("workflow_collection_id"),
    }
    rows: list[dict[str, Any]] = []
    while len(rows) < max(_COUNTED, offset + limit + 1):
        page = await call.api.get("/runs", query)
        rows += page["runs"]
        if page.get("next") is None:
            break
        query["cursor"] = page["next"]
    items = [_row(row) for row in rows[offset : offset + limit]]
    return {"items": items, "totalCount": len(rows), "hasMore": offset + len(items) < len(rows)}


def _row(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": row["id"],
        "status": _STATUSES[row["status"]],
        "workflow_collection_id": row["definition"],
        "created_at_epoch_ms": row["created_at"],
        "completed_at_epoch_ms": row.get("ended_at"),
        "error": row["error"]["message"] if row.get("error") else None,
    }


async def _get(call: ToolCall) -> Any:
    try:
        return {"item": item_of(await _found(call, call.text("id")))}
    except PlaitError as error:
        if error.status == 404:
            return {"item": None}
        raise


async def _step_result(call: ToolCall) -> Any:
    detail, step = await _found(call, call.text("executionId")), call.text("stepId")
    node = next((node for node in detail["view"]["nodes"] if node["id"] == step), None)
    if node is None:
        known = ", ".join(node["id"] for node in detail["view"]["nodes"] if node["kind"] != "input")
        raise NotFound("mcp.unknown_step", f"there is no step {step!r}", fix=f"use one of {known[:500]}")
    match node["status"]:
        case "completed":
            return {"output": node.get("output")}
        case "failed":
            return {"error": node["error"]["message"] if node.get("error") else "failed"}
        case "skipped":
            return {"skipped": True}
        case _:
            return {}


async def _snapshot(call: ToolCall) -> Any:
    detail = await _found(call, call.text("executionId"))
    return detail["view"]["details"]["definition"]


async def _cancel(call: ToolCall) -> Any:
    await call.api.post(run_path(call.text("executionId"), "cancel"), {})
    return {"success": True}


async def _resume(call: ToolCall) -> Any:
    await call.api.post(run_path(call.text("executionId"), "retry"), {})
    return {"success": True}


async def _found(call: ToolCall, id: str) -> dict[str, Any]:
    """Looks up a run of this dialect."""
    detail = await call.api.get(run_path(id))
    if detail["run"]["dialect"] != NAME:
        raise NotFound("run.not_found", f"there is no execution {id!r}", fix="use RUN_GET for runs of other dialects")
    return detail


START_ARGUMENTS: Final[dict[str, Any]] = {
    "input": {},
    "virtual_mcp_id": {"type": "string"},
    "start_at_epoch_ms": {"type": "integer", "description": "Start no earlier than this."},
    "wait": {"type": "boolean", "description": "End with the run, and report its progress."},
}

EXECUTION_TOOLS: Final = (
    McpTool(
        name="COLLECTION_WORKFLOW_EXECUTION_LIST",
        description="List executions of workflows, newest first.",
        properties={
            "limit": {"type": "integer", "minimum": 1, "maximum": _MOST, "default": 50},
            "offset": {"type": "integer", "minimum": 0, "default": 0},
            "status": {"enum": [*_FILTERS]},
            "workflow_collection_id": {"type": "string"},
        },
        handler=_list,
        read_only=True,
    ),
    McpTool(
        name="COLLECTION_WORKFLOW_EXECUTION_GET",
        description="Show an execution: status, input, output, and which steps run or are done; null if there is none.",
        properties={"id": {"type": "string"}},
        required=["id"],
        handler=_get,
        read_only=True,
    ),
    McpTool(
        name="COLLECTION_WORKFLOW_EXECUTION_CREATE",
        description="Start a saved workflow. `presets` are results of steps that are known already.",
        properties={
            "workflow_collection_id": {"type": "string"},
            **START_ARGUMENTS,
            "timeoutMs": {"type": "integer", "minimum": 1},
            "presets": {"type": "object"},
        },
        required=["workflow_collection_id"],
        handler=_create,
    ),
    McpTool(
        name="COLLECTION_WORKFLOW_EXECUTION_GET_STEP_RESULT",
        description="What a step, or an iteration such as `f[2]`, returned; or why it failed or was skipped.",
        properties={**_EXECUTION, "stepId": {"type": "string"}},
        required=["executionId", "stepId"],
        handler=_step_result,
        read_only=True,
    ),
    McpTool(
        name="WORKFLOW_EXECUTION_GET_WORKFLOW",
        description="The workflow as the execution started with it, whatever was saved since.",
        properties=_EXECUTION,
        required=["executionId"],
        handler=_snapshot,
        read_only=True,
    ),
    McpTool(
        name="CANCEL_EXECUTION",
        description="Cancel an execution.",
        properties=_EXECUTION,
        required=["executionId"],
        handler=_cancel,
    ),
    McpTool(
        name="RESUME_EXECUTION",
        description="Go on with an execution that failed or was cancelled: only what failed is run again.",
        properties=_EXECUTION,
        required=["executionId"],
        handler=_resume,
    ),
)
