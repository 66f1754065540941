"""The tasks that a run requests, as data: the work of items, their compensation, and the scripts before and after.

Most are of kinds that any dialect may request. Three are the dialect's own, executed by `executors` and `memo`:

    goals.prepare       maps the inputs of a step and judges its predicate, for the step and for each item
    goals.map_outputs   computes those outputs of an item that a script maps
    goals.memo          another task, skipped if it succeeded before with the same inputs
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import msgspec
from msgspec import Raw

from plait.agents.agent_step import AgentStep
from plait.definitions.flaws import escape
from plait.dialects.goals import limits
from plait.dialects.goals.steps.attribute import Script
from plait.dialects.goals.steps.mapping import as_returned
from plait.dialects.goals.steps.scripts import CANDIDATE
from plait.dialects.goals.steps.step import Http, Step, ToolCall
from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import TaskToken, caller_id
from plait.kernel.machine import RunInfo
from plait.kernel.task import Policy, Task
from plait.kernel.task_inputs import (
    AGENT,
    EMPTY,
    HTTP,
    PIPELINE,
    PYTHON,
    SCRIPT,
    TOOL,
    AgentInput,
    Callback,
    HttpInput,
    PipelineInput,
    PythonInput,
    ScriptInput,
    ToolInput,
)
from plait.kernel.values import ABSENT

from .compiled_plan import StepPlan
from .decision_builder import DecisionBuilder, RunContext
from .input_resolution import gathered_inputs
from .state import MAPPING, PREPARE, compensation_token, match_token

PREPARE_STEP, MAP_OUTPUTS, MEMO = "goals.prepare", "goals.map_outputs", "goals.memo"

WEBHOOK_HEADER = "Argyll-Webhook-URL"
_JSON = {"Accept": "application/json", "Content-Type": "application/json"}
_BODILESS = frozenset(["GET"])
_PRINTABLE = "".join(map(chr, range(0x20, 0x7F)))
_PREPARE_POLICY = Policy(timeout=limits.PREPARE_TIMEOUT / 1000)

_object = msgspec.json.Decoder(dict[str, Raw])
_encode = msgspec.json.Encoder().encode

WorkInput = PythonInput | HttpInput | ScriptInput | ToolInput | AgentInput | PipelineInput


class PrepareInput(msgspec.Struct, frozen=True, gc=False):
    step: Step
    inputs: dict[str, Raw]
    """Inputs by outer name."""
    seed: str


class Prepared(msgspec.Struct, frozen=True):
    """The result of `goals.prepare`."""

    inputs: Raw
    """Mapped inputs by inner name; an object."""
    run: bool = True
    """False: the predicate refused the whole step."""
    keep: list[int] | None = None
    """The places in the fan-out that the predicate accepts; None: all."""
    error: str = ""
    """The error of a failed script, which fails the step."""


class MapOutputsInput(msgspec.Struct, frozen=True, gc=False):
    scripts: tuple[tuple[str, str, Script], ...]
    """Triples of outer name, inner name and script."""
    returned: Raw
    """All that the work returned; each script sees all of it."""
    seed: str


class MemoInput(msgspec.Struct, frozen=True, gc=False):
    fingerprint: str
    """A hash of all that determines the result, except the inputs."""
    inputs: Raw
    kind: str
    input: WorkInput


class Memoized(msgspec.Struct, frozen=True):
    """The result of `goals.memo`."""

    result: Raw
    memo: bool = False


# -- the work of an item -----------------------------------------------------------------------------------------------


def work_task(builder: DecisionBuilder, plan: StepPlan, token: str) -> Task:
    inputs = item_inputs(builder, plan, token)
    kind, input = _work(builder.context.info, plan, token, inputs)
    if plan.fingerprint and not plan.queue:
        kind, input = MEMO, MemoInput(plan.fingerprint, inputs, kind, input)
    return Task(TaskToken(token), plan.id, kind, input, plan.policy, token, plan.id, plan.queue)


def item_inputs(builder: DecisionBuilder, plan: StepPlan, token: str) -> Raw:
    """Inputs by inner name, with those of this item only."""
    flow = builder.flow
    former = flow.state.former.get(token)
    values = flow.item(plan.id, token).values
    if not values and not plan.token_inputs:
        return flow.state.steps[plan.id].inputs if former is None else former.inputs
    found: dict[str, Any] = dict(flow.whole_inputs(plan.id) if former is None else _object.decode(former.inputs))
    found |= {plan.inner[name]: value for name, value in values.items()}
    found |= dict.fromkeys(plan.token_inputs, token)
    return Raw(_encode(found))


def _work(info: RunInfo, plan: StepPlan, token: str, inputs: Raw) -> tuple[str, WorkInput]:
    step = plan.step
    if step.python is not None:
        memo = plan.fingerprint if plan.queue else ""  # workers of a queue keep their own memos
        return PYTHON, PythonInput(step.python.handler, inputs, _callback(plan, token), memo=memo)
    if step.http is not None:
        return HTTP, _request(info, plan, step.http, token, inputs)
    if step.tool is not None:
        return TOOL, _tool(step.tool, plan.id, inputs)
    if step.agent is not None:
        return AGENT, _agent(step, step.agent, info, token, inputs)
    if step.pipeline is not None:
        outputs = [attribute.inner(name) for name, attribute in step.outputs()]
        return PIPELINE, step.pipeline.input(inputs, step.arguments, outputs)
    if step.script is None:
        raise AssertionError(f"the work of step '{step.id}' is a child run")
    script, callback = step.script, _callback(plan, token)
    return SCRIPT, ScriptInput(script.language, script.script, plan.arguments, inputs, "call", token, callback)


def _agent(step: Step, agent: AgentStep, info: RunInfo, token: str, inputs: Raw) -> AgentInput:
    """An agent task whose output is the step's outputs."""
    names = [attribute.inner(name) for name, attribute in step.outputs()]
    schema: dict[str, Any] = {"type": "object", "properties": {name: {} for name in names}, "required": names}
    execution = f"{info.run_id}:{token}"
    return agent.input(inputs, execution=execution, node_id=step.id, workflow=info.definition, schema=schema)


def _tool(tool: ToolCall, step: str, inputs: Raw) -> ToolInput:
    meta = Raw(_encode({"plait/step": step}))
    return ToolInput(tool.name, inputs, tool.servers or None, meta, tool.timeout / 1000 or None)


def _request(info: RunInfo, plan: StepPlan, http: Http, token: str, inputs: Raw) -> HttpInput:
    return HttpInput(
        url=http.endpoint,
        method=http.method,
        params=inputs,
        headers=_headers(info, plan, token),
        body=ABSENT if http.method in _BODILESS else inputs,
        timeout=http.timeout / 1000,
        retry_statuses=plan.step.work_config.retry_statuses,
        max_bytes=limits.RUN_BYTES,
        expects="callback" if plan.step.type == "async" else "object",
        callback=_callback(plan, token),
    )


def _headers(info: RunInfo, plan: StepPlan, token: str) -> dict[str, str]:
    name = caller_id(info.run_id)
    return {
        **_JSON,
        # A run id may hold characters that a header can't: those are percent-encoded
        "Argyll-Flow-ID": name if name.isascii() and name == name.strip() else quote(name.strip(), safe=_PRINTABLE),
        "Argyll-Step-ID": plan.id,
        "Argyll-Receipt-Token": token,
    }


def _callback(plan: StepPlan, token: str, inside: str = "") -> Callback | None:
    """Where to pass the webhook's address: in a header to a step server, and in meta inputs that ask for it."""
    headers = (WEBHOOK_HEADER,) if plan.step.type == "async" else ()
    if not headers and not plan.webhook_inputs:
        return None
    return Callback(token, headers, tuple(f"{inside}/{escape(name)}" for name in plan.webhook_inputs))


def missing_handler(context: RunContext, step: Step) -> str | None:
    """Why this process can't do the work of a step, if it can't."""
    python = step.python
    if python is None or python.queue:  # workers have the functions of a queue
        return None
    return None if context.handlers.get(python.handler) is not None else f"no handler `{python.handler}`"


# -- compensation ------------------------------------------------------------------------------------------------------


def compensation_task(builder: DecisionBuilder, plan: StepPlan, token: str) -> Task:
    item = builder.flow.item(plan.id, token)
    inputs = item_inputs(builder, plan, token)
    output = as_returned(plan.step, outputs_of(item.outputs))
    kind, input = _compensation(builder.context.info, plan, token, inputs, output)
    # Idempotency-Key and the other headers are those of the work, as step servers expect
    task = Task(
        compensation_token(token, item.round),
        f"compensation of {plan.id}",
        kind,
        input,
        Policy(plan.policy.retry),
        token,
        plan.id,
        plan.queue,
    )
    here = task.queue is None and plan.step.python is not None
    if here and builder.context.handlers.get(plan.step.compensate) is None:
        text = f"step '{plan.id}': no handler `{plan.step.compensate}`"
        task.unbound = ErrorInfo("goals.no_handler", text, kind="blocked")
    return task


def _compensation(
    info: RunInfo, plan: StepPlan, token: str, inputs: Raw, output: dict[str, Raw]
) -> tuple[str, PythonInput | HttpInput]:
    both = Raw(_encode({"input": inputs, "output": output}))
    callback = _callback(plan, token, "/input")
    http = plan.step.http
    if http is None:
        return PYTHON, PythonInput(plan.step.compensate, both, callback, discard=True)
    params = Raw(_encode({**_object.decode(inputs), **output})) if "{" in http.compensate else EMPTY
    return HTTP, HttpInput(
        url=http.compensate,
        params=params,
        headers=_headers(info, plan, token),
        body=both,
        timeout=http.timeout / 1000,
        retry_statuses=plan.step.work_config.retry_statuses,
        max_bytes=limits.RUN_BYTES,
        expects="nothing",
        callback=callback,
    )


def outputs_of(raw: Raw) -> dict[str, Raw]:
    """Recorded outputs by name; empty if nothing was recorded."""
    return _object.decode(raw) if bytes(raw).startswith(b"{") else {}


# -- scripts -----------------------------------------------------------------------------------------------------------


def prepare_task(builder: DecisionBuilder, plan: StepPlan) -> Task:
    """The scripts before a step run in a task: no script runs inside a decision."""
    info = builder.context.info
    input = PrepareInput(plan.step, gathered_inputs(builder.flow, plan, info), f"{info.run_id}:{plan.id}")
    token = TaskToken(PREPARE + plan.id)
    return Task(token, f"scripts before {plan.id}", PREPARE_STEP, input, _PREPARE_POLICY, token, plan.id)


def match_task(builder: DecisionBuilder, plan: StepPlan, name: str, index: int) -> Task:
    """Judges one candidate of an input with a `match`."""
    script = plan.step.attributes[name].detail.match
    if script is None:
        raise AssertionError(f"input '{name}' of step '{plan.id}' has no match")
    value = builder.flow.values(name)[index].value
    document = value if script.language == "jpath" else Raw(_encode({CANDIDATE: value}))
    seed = f"{builder.context.info.run_id}:{plan.id}:{name}"
    input = ScriptInput(script.language, script.script, (CANDIDATE,), document, "holds", seed)
    token = match_token(plan.id, name, index)
    return Task(token, f"match of '{name}' for {plan.id}", SCRIPT, input, Policy(), token, plan.id)


def map_outputs_task(builder: DecisionBuilder, plan: StepPlan, token: str) -> Task:
    """The scripts that map what the work of an item returned."""
    returned = builder.flow.item(plan.id, token).returned
    input = MapOutputsInput(plan.output_scripts, returned, token)
    name = TaskToken(MAPPING + token)
    return Task(name, f"mapping of {plan.id}", MAP_OUTPUTS, input, Policy(plan.policy.retry), name, plan.id)
