"""Answers from outside: results of AFL events and scripts, ends of child runs, and `StepContinue`."""

from __future__ import annotations

from typing import Any, cast

import msgspec
from msgspec import Raw

from plait.kernel import cause, values
from plait.kernel.effects import CancelChild, CancelTask
from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import TaskToken, caller_id
from plait.kernel.inputs import ChildFinished, Message, TaskResult

from .arguments import check_types, with_defaults
from .events import ContinueIgnored, EventCompleted, EventFailed, ScriptCompleted, ScriptFailed, StepUpdated
from .evolve import hear
from .failures import EVENT_FAILED, EVENT_TIMEOUT, SCRIPT, StepError, after, error
from .iteration import Iteration
from .nodes import StepNode, event_id
from .state import Binding, EventRecord
from .states import EVENT_TRANSMIT
from .work import SCRIPT_TOKEN, child_run_id

STEP_CONTINUE = "StepContinue"
STEP_UPDATE = "StepUpdate"

_encode = msgspec.json.Encoder().encode
_TIMEOUTS = ("task.timeout", "task.heartbeat")


def task_result(it: Iteration, result: TaskResult) -> None:
    if result.token.startswith(SCRIPT_TOKEN):
        _script_result(it, result)
        return
    node = _waiting(it, result.token)
    if node is None:
        return
    if result.error is not None:
        _event_failed(it, node, result.attempt, of_task(result.error))
        return
    _event_returned(it, node, result.attempt, values.decode(result.output))


def child_finished(it: Iteration, child: ChildFinished) -> None:
    node = _waiting(it, child.token)
    if node is None or child.run_id != child_run_id(it.context.info.run_id, child.token):
        return
    if child.status == "completed":
        _event_returned(it, node, 1, values.decode(child.output))
    else:
        _event_failed(it, node, 1, of_child(child))


def _waiting(it: Iteration, token: TaskToken) -> StepNode | None:
    """The step whose open event a token names; anything else was answered before, or is not an event."""
    event = it.run.state.events.get(token)
    node = None if event is None or event.state != "event.Created" else it.run.nodes.get(event.step_id)
    if node is None or not node.asked or node.record.state != EVENT_TRANSMIT:
        return None
    return node if event_id(node.id, node.record.generation) == token else None


# -- events ------------------------------------------------------------------------------------------------------------


def _event_returned(it: Iteration, node: StepNode, attempt: int, output: Any) -> None:
    try:
        found = as_returns(node, output)
        assert node.declaration is not None
        check_types(it, node, found, node.declaration.returns, "result")
    except StepError as failure:
        _event_failed(it, node, attempt, failure.info)
        return
    _complete(it, node, attempt, found)


def as_returns(node: StepNode, output: Any) -> dict[str, Any]:
    """Wraps a result that is not an object if there is exactly one return."""
    if output is None:
        return {}
    if isinstance(output, dict):
        return cast("dict[str, Any]", output)
    declared = () if node.declaration is None else node.declaration.returns
    if len(declared) == 1:
        return {declared[0].name: output}
    raise StepError(EVENT_FAILED, "the result is not an object", "TypeError")


def _complete(it: Iteration, node: StepNode, attempt: int, found: dict[str, Any], message: str = "") -> None:
    event = it.run.event_of(node)
    assert event is not None
    assert node.declaration is not None
    filled = with_defaults(node.declaration.returns, {**node.record.returns, **found})
    new = {name: value for name, value in filled.items() if name in found or name not in node.record.returns}
    it.set_returns(node, new)
    result = Raw(_encode(found))
    event.state, event.attempt, event.result, event.ended_at = "event.Completed", attempt, result, it.now
    it.run.state.done.append(event.event_id)
    it.run.state.given.pop(event.event_id, None)
    it.record(EventCompleted(event.event_id, node.id, attempt, result, message))
    event.closed = it.run.state.seq
    _release(it, node)


def _event_failed(it: Iteration, node: StepNode, attempt: int, why: ErrorInfo) -> None:
    event = it.run.event_of(node)
    assert event is not None
    event.state, event.attempt, event.error, event.ended_at = "event.Error", attempt, why, it.now
    it.record(EventFailed(event.event_id, node.id, attempt, why))
    event.closed = it.run.state.seq
    node.asked = False
    it.run.waiting -= 1
    it.fail(node, after(attempt, why))
    it.run.attend(node)


def _release(it: Iteration, node: StepNode) -> None:
    node.answered = True
    it.run.waiting -= 1
    it.run.attend(node)


def of_task(found: ErrorInfo) -> ErrorInfo:
    """Translates the kernel's own errors to those of the dialect."""
    if found.code in _TIMEOUTS:
        return error(EVENT_TIMEOUT, found.message, cause=found)
    inner = found.cause if found.kind == "exhausted" and found.cause is not None else found
    if inner.code in _TIMEOUTS:
        return error(EVENT_TIMEOUT, inner.message, cause=found)
    return error(EVENT_FAILED, inner.message, _type(inner) or "RuntimeError", found)


def _type(found: ErrorInfo) -> str:
    """The type that the agent gave; for a Python exception, which has a trace, its class name without the module."""
    return found.type.rpartition(":")[2] if found.trace else found.type


def of_child(child: ChildFinished) -> ErrorInfo:
    why = f"it was {child.status}" if child.error is None else cause.cause_of(child.error).text or child.error.message
    verb = "could not be started" if child.status == "refused" else child.status
    return cause.of_child(child, EVENT_FAILED, f"child run `{caller_id(child.run_id)}` {verb}: {why}", "ChildFailed")


# -- scripts -----------------------------------------------------------------------------------------------------------


def _script_result(it: Iteration, result: TaskResult) -> None:
    id = result.token.removeprefix(SCRIPT_TOKEN).partition(":")[0]
    node = it.run.nodes.get(id)
    if node is None or not node.asked or node.answered or node.record.state == EVENT_TRANSMIT:
        return
    output = values.decode(result.output) if result.error is None else None
    if result.error is not None:
        _script_failed(it, node, error(SCRIPT, result.error.message, cause=result.error))
    elif not isinstance(output, dict):
        _script_failed(it, node, error(SCRIPT, "`result` is not an object"))
    else:
        found = cast("dict[str, Any]", output)
        if node.is_block:
            it.set_returns(node, found)
        else:
            it.set_params(node, found)
        it.record(ScriptCompleted(node.id, Raw(_encode(found))))
        _release(it, node)


def _script_failed(it: Iteration, node: StepNode, why: ErrorInfo) -> None:
    it.record(ScriptFailed(node.id, why))
    node.asked = False
    it.run.waiting -= 1
    it.fail(node, why)
    it.run.attend(node)


# -- messages ----------------------------------------------------------------------------------------------------------


def message(it: Iteration, found: Message) -> None:
    if found.id in it.run.state.heard:
        return
    hear(it.run.state, found.id)
    body: Any = values.decode(found.body)
    if isinstance(body, dict) and cast("dict[str, Any]", body).get("event_type") == STEP_CONTINUE:
        body = cast("dict[str, Any]", body).get("payload")
    given = cast("dict[str, Any]", body) if isinstance(body, dict) else {}
    step = given.get("step_id")
    id = step[:200] if isinstance(step, str) else ""
    if found.name not in (STEP_CONTINUE, STEP_UPDATE):
        it.record(ContinueIgnored(id, f"no message `{found.name[:100]}` is expected", found.id))
        return
    node = it.run.nodes.get(id)
    reason = _not_waiting(it, node, given)
    if reason or node is None:
        it.record(ContinueIgnored(id, reason, found.id))
    elif found.name == STEP_UPDATE:
        update(it, node, given.get("returns") or {}, found.id)
    else:
        step_continue(it, node, given.get("result") or {}, found.id)


def _not_waiting(it: Iteration, node: StepNode | None, given: dict[str, Any]) -> str:
    if it.over:
        return "the run has ended"
    if node is None:
        return "there is no such step"
    if node.record.state != EVENT_TRANSMIT or not node.waits:
        return f"the step is in {node.record.state}"
    field = given.get("result", given.get("returns"))
    if field is not None and not isinstance(field, dict):
        return "the result is not an object"
    return ""


def update(it: Iteration, node: StepNode, returns: dict[str, Any], message: str) -> None:
    """Stores partial returns while the agent works."""
    node.record.returns.update(returns)
    it.record(StepUpdated(node.id, Raw(_encode(returns)), message))


def step_continue(it: Iteration, node: StepNode, result: dict[str, Any], message: str) -> None:
    """The first answer wins: the event is closed, and its task withdrawn."""
    event = it.run.event_of(node)
    assert event is not None
    for effect in withdrawal(it, event):
        it.effect(effect)
    _complete(it, node, max(1, event.attempt), result, message)


def withdrawal(it: Iteration, event: EventRecord) -> list[CancelTask | CancelChild]:
    binding = it.run.state.start.bindings.get(event.event_type) or Binding()
    if binding.kind == "child":
        return [CancelChild(child_run_id(it.context.info.run_id, event.event_id), "its step goes on without it")]
    return [CancelTask(TaskToken(event.event_id))]


def set_result(it: Iteration, token: TaskToken, result: dict[str, Any]) -> None:
    """In a fork: sets the result of an event that is open in it."""
    node = _waiting(it, token)
    if node is not None:
        _event_returned(it, node, 1, result)
