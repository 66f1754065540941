"""`START_WORKFLOW_…`: one tool for each saved workflow, with the schema of its input."""

from __future__ import annotations

import re
from collections import Counter
from functools import partial
from hashlib import sha256
from typing import Any, Final

from plait.api.mcp_tool import Api, McpTool, ToolCall
from plait.api.run_waiting import wait_for_run

from .execution_tools import START_ARGUMENTS, start, status_of
from .workflow_items import saved

_PREFIX: Final = "START_WORKFLOW_"
_LONGEST: Final = 64


async def start_tools(api: Api) -> list[McpTool]:
    found = await saved(api)
    slugs = {each["name"]: slug_of(each["title"]) for each in found}
    often = Counter(slugs.values())
    return [_tool(each, _unique(each["name"], slugs[each["name"]], often)) for each in found]


def slug_of(title: str) -> str:
    return re.sub(r"[^A-Z0-9]+", "_", title.upper()).strip("_")


def _unique(name: str, slug: str, often: Counter[str]) -> str:
    """Adds a short hash where two titles are alike, or one is too long."""
    if slug and often[slug] == 1 and len(_PREFIX + slug) <= _LONGEST:
        return _PREFIX + slug
    mark = sha256(name.encode()).hexdigest()[:6].upper()
    return f"{(_PREFIX + slug)[: _LONGEST - 7].rstrip('_')}_{mark}"


def _tool(overview: dict[str, Any], name: str) -> McpTool:
    schema: Any = overview.get("input_schema") or {}
    return McpTool(
        name=name,
        description=f"Start the workflow {overview['title']!r}. {overview['description']}".strip(),
        properties={**START_ARGUMENTS, "input": schema},
        handler=partial(_start, overview["name"]),
    )


async def _start(workflow: str, call: ToolCall) -> Any:
    started = await start(call, workflow)
    if not call.arguments.get("wait"):
        return {"execution_id": started["id"], "status": started["status"]}
    detail = await wait_for_run(call, started["id"])
    return {"execution_id": started["id"], "status": status_of(detail), "output": detail.get("output")}
