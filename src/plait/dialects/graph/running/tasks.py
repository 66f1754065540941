"""The work of an execution as a task: data, so that any process with the function may do it."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from plait.dialects.graph.definition.transforms import SCRIPT_SEES, script_of
from plait.kernel.ids import TaskToken, caller_id
from plait.kernel.task import Policy, Task
from plait.kernel.task_inputs import (
    AGENT,
    CONDITION,
    HTTP,
    PIPELINE,
    SCRIPT,
    TOOL,
    ConditionInput,
    HttpInput,
    PipelineInput,
    PythonInput,
    ScriptInput,
    ToolInput,
)
from plait.kernel.values import ABSENT

from .agent_input import agent_input
from .decision_builder import DecisionBuilder
from .state import Execution
from .templates import config_of
from .topology import NodePlan

CALL_HANDLER, MIGRATE = "graph.handler", "graph.migrate"
"""The dialect's own kinds of tasks."""

_JSON = {"Accept": "application/json", "Content-Type": "application/json"}
_JUDGE_POLICY = Policy(timeout=15.0)
"""Longer than the longest time that a condition may ask for."""
_RETRIED = (408, 425, 429)
_encode = msgspec.json.Encoder().encode


class HandlerInput(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A call of a registered function."""

    handler: str
    payload: Raw
    config: Raw
    run_id: str
    node_id: str
    token_id: str
    context: dict[str, Raw] = {}
    """The latest outputs of other nodes, for a function that takes them."""
    token: dict[str, Any] = {}
    """What else a remote worker may need to know of the token."""

    def on_queue(self) -> tuple[PythonInput, str]:
        """The form for workers of a queue: the function's name, and everything else as its arguments."""
        return PythonInput(self.handler, Raw(_encode(self))), code_name(self.handler)


def code_name(handler: str) -> str:
    """The name under which engines announce the function, for tasks that others leave to workers."""
    return f"graph:{handler}"


class MigrateInput(msgspec.Struct, frozen=True, gc=False):
    """The version of the definition to migrate to, and the payload to map."""

    definition: str
    namespace: str
    to_version: str
    transform: str
    """A handler that maps `{payload, context}`; empty: the payload stays."""
    payload: Raw
    context: dict[str, Raw]


def work_task(builder: DecisionBuilder, execution: Execution) -> Task | None:
    """None if the node's work is not a task. Raises `TemplateError` if its config can't be filled in."""
    plan = builder.plan(execution)
    match plan.work:
        case "call":
            return _call(builder, plan, execution)
        case "http":
            return _task(plan, execution, builder, HTTP, _request(builder, plan, execution))
        case "agent":
            return _task(plan, execution, builder, AGENT, agent_input(builder, plan, execution), plan.ir.queue)
        case "script":
            return _task(plan, execution, builder, SCRIPT, _script(builder, plan, execution))
        case "pipeline":
            return _task(plan, execution, builder, PIPELINE, _pipeline(builder, plan, execution))
        case "tool":
            return _task(plan, execution, builder, TOOL, _tool(builder, plan, execution))
        case "migration":
            return _task(plan, execution, builder, MIGRATE, _migration(builder, plan, execution))
        case _:
            return None


def _task(
    plan: NodePlan, execution: Execution, builder: DecisionBuilder, kind: str, input: Any, queue: str | None = None
) -> Task:
    key = f"{builder.context.info.run_id}:{execution.id}:{execution.generation}"
    return Task(execution.task, plan.ir.name or plan.id, kind, input, plan.policy, key, plan.id, queue)


# -- handlers ----------------------------------------------------------------------------------------------------------


def _call(builder: DecisionBuilder, plan: NodePlan, execution: Execution) -> Task:
    """Calls a function of this process, a URL, or a worker of the queue."""
    handlers = builder.context.handlers
    here = plan.ir.queue is None and handlers.known(plan.handler)
    config = config_of(builder, plan, execution)
    if not here and plan.ir.queue is None and "url" in plan.ir.config:
        return _task(plan, execution, builder, HTTP, _post(builder, execution, config))
    told = builder.told or not here
    input = HandlerInput(
        handler=plan.handler,
        payload=execution.payload,
        config=config,
        run_id=caller_id(builder.context.info.run_id),
        node_id=plan.id,
        token_id=execution.id,
        context=_context(builder) if told or handlers.takes_context(plan.handler) else {},
        token=_travel(builder, execution) if told else {},
    )
    task = _task(plan, execution, builder, CALL_HANDLER, input, None if here else plan.queue)
    if not here:
        task.input, code = input.on_queue()
        task.code = "" if plan.ir.queue else code  # a queue named by the node is for its workers alone
    return task


def _travel(builder: DecisionBuilder, execution: Execution) -> dict[str, Any]:
    state = builder.run.state
    first = state.tokens.get(execution.id)
    return {
        "from_node": first.origin if first is not None else "",
        "hop": execution.hop,
        "loops": execution.loops,
        "wf_version": state.wf_version,
        "revision": state.revision,
    }


def _context(builder: DecisionBuilder) -> dict[str, Raw]:
    return {node: record.output for node, record in builder.run.state.context.items() if record.executions}


def _post(builder: DecisionBuilder, execution: Execution, config: Raw) -> HttpInput:
    body = {
        "run_id": caller_id(builder.context.info.run_id),
        "node_id": execution.node,
        "token_id": execution.id,
        "attempt": 1,
        "config": config,
        "payload": execution.payload,
        "callback_url": None,
    }
    return HttpInput(
        url=_url.decode(config).url,
        headers=_JSON,
        body=Raw(_encode(body)),
        retry_statuses=_RETRIED,
        expects="json_or_later",
        attempt_field="/attempt",
        result_url_field="/callback_url",
    )


# -- other kinds -------------------------------------------------------------------------------------------------------


class HandlerUrl(msgspec.Struct, frozen=True):
    url: str


_url = msgspec.json.Decoder(HandlerUrl)


class HttpConfig(msgspec.Struct, frozen=True):
    url: str
    method: str = "GET"
    query: dict[str, Any] = {}
    headers: dict[str, Any] = {}
    body: Raw = ABSENT
    expect: str = "2xx"


_http_config = msgspec.json.Decoder(HttpConfig)


def _request(builder: DecisionBuilder, plan: NodePlan, execution: Execution) -> HttpInput:
    config = _http_config.decode(config_of(builder, plan, execution))
    return HttpInput(
        url=config.url,
        method=config.method,
        query=_texts(config.query),
        headers=(_JSON if config.body else {}) | _texts(config.headers),
        body=config.body,
        retry_statuses=_RETRIED,
        expects="any_response" if config.expect == "any" else "response",
    )


def _texts(given: dict[str, Any]) -> dict[str, str]:
    return {name: value if isinstance(value, str) else _encode(value).decode() for name, value in given.items()}


def _script(builder: DecisionBuilder, plan: NodePlan, execution: Execution) -> ScriptInput:
    """A `transform` by a script, which sees `payload`, `input` and `context`."""
    language, text = script_of(plan.ir.config)
    document = {"payload": execution.payload, "input": builder.run.state.input, "context": _context(builder)}
    return ScriptInput(language, text, SCRIPT_SEES, Raw(_encode(document)), seed=execution.id)


class PipelineConfig(msgspec.Struct, frozen=True):
    pipeline: Raw


_pipeline_config = msgspec.json.Decoder(PipelineConfig)


def _pipeline(builder: DecisionBuilder, plan: NodePlan, execution: Execution) -> PipelineInput:
    config = _pipeline_config.decode(config_of(builder, plan, execution))
    return PipelineInput(config.pipeline, execution.payload)


class ToolConfig(msgspec.Struct, frozen=True):
    tool: str
    arguments: Raw = ABSENT
    servers: tuple[str, ...] | None = None


_tool_config = msgspec.json.Decoder(ToolConfig)


def _tool(builder: DecisionBuilder, plan: NodePlan, execution: Execution) -> ToolInput:
    """A tool call; without `arguments`, the tool gets the token's payload."""
    config = _tool_config.decode(config_of(builder, plan, execution))
    meta = {"plait/step": plan.id}
    return ToolInput(config.tool, config.arguments or execution.payload, config.servers, Raw(_encode(meta)))


def _migration(builder: DecisionBuilder, plan: NodePlan, execution: Execution) -> MigrateInput:
    config: dict[str, Any] = plan.ir.config
    return MigrateInput(
        definition=builder.context.info.definition,
        namespace=builder.context.info.namespace,
        to_version=str(config["to_version"]),
        transform=str(config.get("transform") or ""),
        payload=execution.payload,
        context=_context(builder),
    )


# -- conditions and compensators ---------------------------------------------------------------------------------------


def judge_task(builder: DecisionBuilder, execution: Execution, pointer: str, mark: str) -> Task:
    """Judges one condition: a rule is judged only once those before it are false."""
    token = TaskToken(f"{execution.task}{mark}{pointer}")
    condition, nodes = builder.run.plan.conditions[pointer], frozenset(builder.run.state.context)
    input = ConditionInput(
        condition=condition.source,
        output=execution.output,
        ctx=Raw(_encode(builder.records(nodes if condition.reads_all else condition.reads))),
        input=builder.run.state.input,
        metadata=Raw(_encode({"iteration": execution.iteration()})),
        node=execution.node,
    )
    return Task(token, f"condition of {execution.node}", CONDITION, input, _JUDGE_POLICY, str(token), execution.node)
