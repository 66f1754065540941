"""The tools that control recordings. They are never recorded themselves."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from plait.api.mcp_tool import McpTool, ToolCall
from plait.cli.save import saved_facts
from plait.kernel.errors import InvalidInput

from .api_host import recordings_of
from .binding import bind, must_be_bound, url_of

PREFIX: Final = "WORKFLOW_RECORDING_"
_OPTIONS: Final[dict[str, Any]] = {
    "include": {"type": "array", "items": {"type": "string"}, "description": "Steps that would be left out."},
    "exclude": {"type": "array", "items": {"type": "string"}, "description": "Steps to leave out."},
    "accept": {
        "description": 'Ids of suggestions to apply, or "high" for all that are at least 80 % sure.',
        "anyOf": [{"type": "array", "items": {"type": "string"}}, {"const": "high"}],
    },
    "rename": {"type": "object", "additionalProperties": {"type": "string"}, "description": "New names of steps."},
    "order": {"enum": ["effects", "data"]},
    "output": {"description": "What the workflow returns, with references."},
    "input_schema": {"type": "object"},
    "title": {"type": "string"},
    "description": {"type": "string"},
}
_EXECUTION: Final = {"executionId": {"type": "string", "description": "The recording; this session's if left out."}}


def _run(call: ToolCall) -> tuple[str, dict[str, Any]]:
    """The recording that is meant, and the other arguments."""
    given = {key: value for key, value in call.arguments.items() if value is not None and key != "executionId"}
    return must_be_bound(call.session, call.arguments.get("executionId")), given


async def _start(call: ToolCall) -> Any:
    given = call.arguments
    recordings = recordings_of(call.api)
    run = await recordings.start(given.get("input"), given.get("servers"), title=given.get("title") or "")
    bind(call.session, run)
    await call.announce()
    return {"executionId": run, "url": url_of(call.session, run)}


async def _stop(call: ToolCall) -> Any:
    run, given = _run(call)
    output = await recordings_of(call.api).stop(run, **given)
    return {"item": {"id": run, "status": "success", "output": output}}


async def _get(call: ToolCall) -> Any:
    run, _ = _run(call)
    draft = await recordings_of(call.api).draft(run)
    return {"executionId": run, "steps": msgspec.to_builtins(draft.steps)}


async def _templatize(call: ToolCall) -> Any:
    run, options = _run(call)
    return msgspec.to_builtins(await recordings_of(call.api).draft(run, **options))


async def _preset(call: ToolCall) -> Any:
    run, given = _run(call)
    if "output" not in call.arguments:
        raise InvalidInput("mcp.bad_arguments", "`output` is missing", fix="give the step's result")
    name = await recordings_of(call.api).preset(
        run,
        call.text("stepName"),
        call.arguments["output"],
        tool=given.get("toolName", ""),
        input=given.get("input"),
        replace=bool(given.get("replace")),
    )
    return {"stepName": name}


async def _save(call: ToolCall) -> Any:
    run, options = _run(call)
    name = call.text("name")
    options.pop("name")
    saved = await recordings_of(call.api).save(run, name, **options)
    version, warnings = saved_facts(saved)
    return {"item": {"id": name, "version": version, "warnings": warnings}}


CONTROL_TOOLS: Final = (
    McpTool(
        name=f"{PREFIX}START",
        description=(
            "Start recording this session's tool calls as a workflow. The tools of other servers are listed from then "
            "on; arguments may refer to earlier results with @step.field. Clients without sessions use the `url`."
        ),
        properties={
            "input": {"type": "object", "description": "Values that calls may refer to as @input.field."},
            "servers": {"type": "array", "items": {"type": "string"}, "description": "All, if left out."},
            "title": {"type": "string"},
        },
        handler=_start,
    ),
    McpTool(
        name=f"{PREFIX}STOP",
        description="End the recording. Its output is `output`, with references, or else that of the last success.",
        properties={**_EXECUTION, "output": {}},
        handler=_stop,
    ),
    McpTool(
        name=f"{PREFIX}GET",
        description="The steps that were recorded, with their results, and whether each would be in the workflow.",
        properties=_EXECUTION,
        handler=_get,
        read_only=True,
    ),
    McpTool(
        name=f"{PREFIX}TEMPLATIZE",
        description=(
            "What the recording would be as a workflow: its steps, suggestions of references in place of literal "
            "values with how sure they are, the input schema, and problems. Nothing is changed."
        ),
        properties={**_EXECUTION, **_OPTIONS},
        handler=_templatize,
        read_only=True,
    ),
    McpTool(
        name=f"{PREFIX}PRESET_RESULT",
        description=(
            "Set the result of a step without calling a tool: of a new step, or of one that failed. The step name "
            "`input` adds fields to the workflow's input."
        ),
        properties={
            **_EXECUTION,
            "stepName": {"type": "string"},
            "output": {},
            "toolName": {"type": "string", "description": "The tool that would give this result."},
            "input": {"type": "object", "description": "What it would be called with."},
            "replace": {"type": "boolean", "description": "Also if the step has a result."},
        },
        required=["stepName", "output"],
        handler=_preset,
    ),
    McpTool(
        name=f"{PREFIX}SAVE_AS_TEMPLATE",
        description="Save the recording as a workflow that can be started by its name with other input.",
        properties={**_EXECUTION, "name": {"type": "string"}, **_OPTIONS},
        required=["name"],
        handler=_save,
    ),
)
