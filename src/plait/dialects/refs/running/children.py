"""Steps that are child runs: `workflow`, and the engine's own tool that starts a saved workflow."""

from __future__ import annotations

from typing import Any, Final, cast

import msgspec
from msgspec import Raw

from plait.dialects.refs.definition.plan import StepPlan
from plait.kernel.cause import cause_of, of_child
from plait.kernel.effects import StartChild
from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import Millis, TaskToken, caller_id
from plait.kernel.inputs import ChildFinished
from plait.kernel.task_inputs import EMPTY
from plait.kernel.values import NULL

from .child_ids import child_id
from .decision_builder import DecisionBuilder
from .state import Work, work_id

CREATE_TOOL: Final = "COLLECTION_WORKFLOW_EXECUTION_CREATE"
CREATE_TOOLS: Final = frozenset((CREATE_TOOL, f"plait:{CREATE_TOOL}", f"plait_{CREATE_TOOL}"))
"""All spellings of the engine's own tool that starts a run."""
_STATUSES: Final = {"completed": "success", "failed": "error", "cancelled": "cancelled"}

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


class BadRequest(Exception):
    """The input of a step does not specify which run to start."""


def is_child(step: StepPlan) -> bool:
    return step.kind == "workflow" or (step.kind == "tool" and step.action.name in CREATE_TOOLS)


def is_waited_child(step: StepPlan, work: Work) -> bool:
    return is_child(step) and not work.raw and _waits(step, work.input)


def _waits(step: StepPlan, input: Raw) -> bool:
    if step.kind == "workflow":
        return step.action.wait
    given = _decode(input) if input else None
    return isinstance(given, dict) and cast("dict[str, Any]", given).get("wait") is True


def child_of(builder: DecisionBuilder, step: StepPlan, index: int | None, work: Work) -> StartChild:
    """The effect that starts a step's child; raises `BadRequest`."""
    info = builder.context.info
    token = TaskToken(work_id(step.name, index))
    run_id = child_id(info.run_id, step.name, index, work.generation)
    waits = _waits(step, work.input)
    # No arguments: the child starts without an input, as it must if it takes none
    given = NULL if work.input == EMPTY else work.input
    dialect, definition, input, deadline = info.dialect, None, given, None
    if step.kind == "tool":
        definition, input, timeout = _requested(_decode(work.input))
        deadline = None if timeout is None else Millis(builder.now + timeout)
    elif isinstance(step.action.workflow, str):
        dialect, definition = "", step.action.workflow
    else:
        dialect, definition = step.action.workflow["dialect"], step.action.workflow["definition"]
    return StartChild(
        token,
        run_id,
        dialect,
        definition,
        input,
        deadline=deadline,
        announces=not waits,
        independent=not waits,
        queueing=step.action.queueing,
    )


def _requested(given: Any) -> tuple[Any, Raw, int | None]:
    """The definition, the input and the time limit in the tool's arguments."""
    fields = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    name, timeout = fields.get("workflow_collection_id"), fields.get("timeoutMs")
    if not isinstance(name, str) or not name:
        raise BadRequest(f"{CREATE_TOOL} needs `workflow_collection_id`, the name of a saved workflow")
    if timeout is not None and (not isinstance(timeout, int) or isinstance(timeout, bool) or timeout < 1):
        raise BadRequest(f"{CREATE_TOOL}: `timeoutMs` is a number of milliseconds")
    more = {key: fields[key] for key in ("presets", "start_at_epoch_ms") if fields.get(key) is not None}
    if isinstance(group := fields.get("virtual_mcp_id"), str) and group:
        more["servers"] = [group]
    definition = {"use": name, **more} if more else name
    return definition, Raw(_encode(fields["input"])) if "input" in fields else NULL, timeout


def started_output(builder: DecisionBuilder, step: StepPlan, index: int | None, work: Work) -> Raw:
    """The output of a step whose child nobody waits for."""
    id = caller_id(child_id(builder.context.info.run_id, step.name, index, work.generation))
    return Raw(_encode({"id": id} if step.kind == "workflow" else {"item": {"id": id}}))


def finished_output(step: StepPlan, child: ChildFinished) -> Raw:
    if step.kind == "workflow":
        return child.output
    item = {"id": caller_id(child.run_id), "status": _STATUSES.get(child.status, child.status), "output": child.output}
    return Raw(_encode({"item": item}))


def child_error(child: ChildFinished) -> ErrorInfo:
    why = f"it was {child.status}" if child.error is None else cause_of(child.error).text or child.error.message
    what = f"child run `{caller_id(child.run_id)}` {child.status}"
    if child.status == "refused":
        what = "the child run could not be started"
    return of_child(child, "child_failed", f"{what}: {why}")
