"""Outside work of a run: AFL events and scripts as tasks, or as child runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import Raw

from plait.dialects.afl.program.parts import Script
from plait.kernel import values
from plait.kernel.effects import Effect, StartChild
from plait.kernel.ids import RunId, TaskToken, caller_id
from plait.kernel.queue_options import defined
from plait.kernel.retry import Retry
from plait.kernel.task import Policy, Task
from plait.kernel.task_inputs import AGENT, HTTP, PYTHON, AgentInput, HttpInput, PythonInput

from .event_policy import policy_of
from .events import EventCreated
from .iteration import Iteration
from .limits import SCRIPT_SECONDS
from .nodes import StepNode, event_id, path_of
from .prompts import filled
from .state import Binding, EventRecord

CALL_HANDLER: Final = "afl.handler"
RUN_SCRIPT: Final = "afl.script"
SCRIPT_TOKEN: Final = "script:"
AGENT_QUEUE: Final = "afl:"
"""Prefix of the queues that agents poll: one per facet."""

_RETRIED: Final = (408, 425, 429)
_JSON: Final = {"Accept": "application/json", "Content-Type": "application/json"}
_encode = msgspec.json.Encoder().encode
_SCRIPT_POLICY: Final = Policy(timeout=SCRIPT_SECONDS + 5, retry=Retry(max_attempts=1))


def code_name(handler: str) -> str:
    """The name under which engines announce a handler."""
    return f"afl:{handler}"


class HandlerInput(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A call of a registered function."""

    handler: str
    facet: str
    payload: Raw
    step_id: str
    run_id: str


class ScriptRun(msgspec.Struct, frozen=True, gc=False):
    code: str
    params: Raw


# -- scripts -----------------------------------------------------------------------------------------------------------


def script_token(node: StepNode) -> TaskToken:
    return TaskToken(f"{SCRIPT_TOKEN}{event_id(node.id, node.record.generation)}")


def ask_script(it: Iteration, node: StepNode, script: Script, params: Mapping[str, Any]) -> None:
    node.asked = True
    it.run.waiting += 1
    it.effect(script_task(it.context.info.run_id, node, script, params))


def script_task(run_id: RunId, node: StepNode, script: Script, params: Mapping[str, Any]) -> Task:
    token = script_token(node)
    input = ScriptRun(script.code, Raw(_encode(params)))
    return Task(
        token, f"script of {path_of(node)}", RUN_SCRIPT, input, _SCRIPT_POLICY, f"{run_id}/{token}", node=node.id
    )


# -- AFL events --------------------------------------------------------------------------------------------------------


def ask_event(it: Iteration, node: StepNode) -> None:
    """The event is recorded with the commit of this iteration, and dispatched after it."""
    record, run = node.record, it.run
    id = event_id(node.id, record.generation)
    payload = Raw(_encode({**record.returns, **record.params}))
    event = EventRecord(
        event_id=id,
        event_type=record.facet_name,
        step_id=node.id,
        workflow_id=it.context.info.run_id,
        payload=payload,
        created_at=it.now,
        workflow_version=record.workflow_version,
    )
    run.state.events[id] = event
    it.record(EventCreated(msgspec.structs.replace(event)))
    event.opened = run.state.seq
    node.asked = True
    run.waiting += 1
    it.published += 1
    it.effect(event_effect(it.context.info.run_id, run.state.start.bindings, node, event))


def event_effect(run_id: RunId, bindings: Mapping[str, Binding], node: StepNode, event: EventRecord) -> Effect:
    binding = bindings.get(event.event_type) or Binding()
    if binding.kind == "child":
        return StartChild(
            TaskToken(event.event_id),
            child_run_id(run_id, event.event_id),
            binding.dialect,
            binding.definition,
            event.payload,
            queueing=defined(binding.queueing),
        )
    kind, input, queue = _task_input(run_id, binding, node, event)
    policy = policy_of(node, binding)
    key = f"{run_id}/{event.event_id}"
    label = f"`{event.event_type}` of `{path_of(node)}`"
    return Task(TaskToken(event.event_id), label, kind, input, policy, key, node=node.id, queue=queue)


def child_run_id(run_id: RunId, event: str) -> RunId:
    return RunId(f"{run_id}:{event}" if len(run_id) < 150 else f"{run_id[:100]}:{event}")


def _task_input(run_id: RunId, binding: Binding, node: StepNode, event: EventRecord) -> tuple[str, Any, str | None]:
    match binding.kind:
        case "python":
            own = HandlerInput(binding.name, event.event_type, event.payload, node.id, caller_id(run_id))
            return CALL_HANDLER, own, None
        case "http":
            request = HttpInput(
                url=binding.url, headers=_JSON, body=event.payload, retry_statuses=_RETRIED, expects="json"
            )
            return HTTP, request, None
        case "prompt":
            return AGENT, _prompt(node, event), None
        case "queue":
            return PYTHON, PythonInput(event.event_type, event.payload), binding.name
        case _:
            return PYTHON, PythonInput(event.event_type, event.payload), AGENT_QUEUE + event.event_type


def _prompt(node: StepNode, event: EventRecord) -> AgentInput:
    """An event facet with a prompt and no other handler: the model answers with its returns, and has no tools."""
    declaration = node.declaration
    assert declaration is not None
    assert declaration.prompt is not None
    text, params = declaration.prompt, node.record.params
    names = [each.name for each in declaration.returns]
    schema: dict[str, Any] = {"type": "object", "properties": {name: {} for name in names}, "required": names}
    return AgentInput(
        model=text.model,
        prompt=filled(text.template, params),
        instructions=filled(text.system, params),
        payload=event.payload,
        output_schema=Raw(values.plain(schema)),
        tools=(),
        execution=event_id(node.id, node.record.generation),
        node_id=event.event_type,
        handler=f"model:{text.model}",
    )
