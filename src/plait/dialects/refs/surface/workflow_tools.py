"""`COLLECTION_WORKFLOW_…`: saved workflows."""

from __future__ import annotations

from itertools import chain, count
from typing import Any, Final, cast

from plait.api.mcp_tool import McpTool, ToolCall
from plait.dialects.refs.names import NAME
from plait.kernel.errors import Conflict, InvalidInput, PlaitError

from .workflow_items import find, listed_item, name_of, path_of, saved, stored

_MOST: Final = 500
_HOW: Final = """A workflow is a list of steps. Each step has a unique `name`, an `action` and an `input`.
Actions: {"toolName": "TOOL"} calls an MCP tool with the input, {"code": "export default function(input) {…}"} runs
JavaScript, {"return": true} ends the run with the input as its output. Refs wire steps: "@input.x" is a field of the
run's input, "@step.path.to.field" is what a step returned. A string that is one ref keeps its type; within text it is
put in ("Hello @input.name"). Steps run as soon as what they reference is there, so independent ones run in parallel.
`when` {"ref", "eq"|"neq"|"gt"|"lt"|"exists"} skips a step, `forEach` {"ref", "concurrency"} runs it for each item (its
input may use "@item" and "@index"). Write "@@" for a plain @ before a name."""

_ID: Final = {"id": {"type": "string"}}
_PAGE: Final = {
    "limit": {"type": "integer", "minimum": 1, "maximum": _MOST, "default": 50},
    "offset": {"type": "integer", "minimum": 0, "default": 0},
}
_DATA: Final = {
    "title": {"type": "string"},
    "description": {"type": "string"},
    "virtual_mcp_id": {
        "type": "string",
        "description": "The MCP server, or the group of servers, whose tools it may call; all if left out.",
    },
    "steps": {"type": "array", "items": {"type": "object"}},
    "input_schema": {"type": "object"},
}


def page_of(call: ToolCall, items: list[Any], total: int) -> dict[str, Any]:
    offset = call.number("offset", 0)
    return {"items": items, "totalCount": total, "hasMore": offset + len(items) < total}


async def _list(call: ToolCall) -> Any:
    found = await saved(call.api)
    offset, limit = call.number("offset", 0), min(call.number("limit", 50), _MOST)
    return page_of(call, [listed_item(each) for each in found[offset : offset + limit]], len(found))


async def _get(call: ToolCall) -> Any:
    try:
        return {"item": await find(call.api, call.text("id"))}
    except PlaitError as error:
        if error.status == 404:
            return {"item": None}
        raise


async def _create(call: ToolCall) -> Any:
    data = _data(call)
    if not isinstance(data.get("title"), str):
        raise InvalidInput("mcp.bad_arguments", "`data.title` is missing", fix="give the workflow a title")
    name = await _new_name(call, data)
    return {"item": await _save(call, name, {"steps": [], **_without_nulls(_fields(data))})}


async def _new_name(call: ToolCall, data: dict[str, Any]) -> str:
    """An unused name: creating a workflow never changes another."""
    taken = {each["name"] for each in (await call.api.get("/definitions"))["definitions"]}
    if given := data.get("id"):
        if given in taken:
            fix = "change it with COLLECTION_WORKFLOW_UPDATE, or choose another id"
            raise Conflict("definition.exists", f"there is a workflow {given!r}", fix=fix)
        return given
    base = name_of(data["title"])
    numbered = (f"{base[:58]}-{number}" for number in count(2))
    return next(name for name in chain([base], numbered) if name not in taken)


async def _update(call: ToolCall) -> Any:
    name = call.text("id")
    try:
        _, before = await stored(call.api, name)
        await _save(call, name, _without_nulls({**before, **_fields(_data(call))}))
    except PlaitError as error:
        return {"success": False, "error": error.text}
    return {"success": True}


async def _delete(call: ToolCall) -> Any:
    name = call.text("id")
    await find(call.api, name)
    await call.api.delete(path_of(name))
    return {"item": {"id": name}}


async def _save(call: ToolCall, name: str, definition: dict[str, Any]) -> dict[str, Any]:
    await call.api.post("/definitions", {"dialect": NAME, "name": name, "definition": definition})
    return await find(call.api, name)


def _data(call: ToolCall) -> dict[str, Any]:
    found = call.arguments.get("data")
    if not isinstance(found, dict):
        raise InvalidInput("mcp.bad_arguments", "`data` is missing", fix="give the workflow in `data`")
    return cast("dict[str, Any]", found)


def _fields(data: dict[str, Any]) -> dict[str, Any]:
    """Fields of the definition; null removes one."""
    fields = {key: value for key, value in data.items() if key not in ("id", "virtual_mcp_id")}
    if "virtual_mcp_id" in data:
        fields["servers"] = [data["virtual_mcp_id"]] if data["virtual_mcp_id"] else None
    return fields


def _without_nulls(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not None}


WORKFLOW_TOOLS: Final = (
    McpTool(
        name="COLLECTION_WORKFLOW_LIST",
        description="List saved workflows, without their steps.",
        properties=_PAGE,
        handler=_list,
        read_only=True,
    ),
    McpTool(
        name="COLLECTION_WORKFLOW_GET",
        description="Show a saved workflow with its steps; null if there is none.",
        properties=_ID,
        required=["id"],
        handler=_get,
        read_only=True,
    ),
    McpTool(
        name="COLLECTION_WORKFLOW_CREATE",
        description=f"Save a workflow.\n\n{_HOW}",
        properties={"data": {"type": "object", "properties": {**_ID, **_DATA}, "required": ["title"]}},
        required=["data"],
        handler=_create,
    ),
    McpTool(
        name="COLLECTION_WORKFLOW_UPDATE",
        description="Change fields of a saved workflow; null removes one. Runs that exist keep what they started with.",
        properties={**_ID, "data": {"type": "object", "properties": _DATA}},
        required=["id", "data"],
        handler=_update,
    ),
    McpTool(
        name="COLLECTION_WORKFLOW_DELETE",
        description="Delete a saved workflow. Runs that exist keep what they started with.",
        properties=_ID,
        required=["id"],
        handler=_delete,
    ),
)
