"""Steps as tasks: the request to a tool, a function or a script, and its idempotency key."""

from __future__ import annotations

from typing import Any, assert_never

import msgspec
from msgspec import Raw

from plait.dialects.refs.definition.action import Action
from plait.dialects.refs.definition.limits import SANDBOX_GRACE
from plait.dialects.refs.definition.plan import TRANSFORM_POLICY, StepPlan, default_timeout
from plait.kernel.ids import TaskToken, caller_id
from plait.kernel.task import Policy, Task
from plait.kernel.task_inputs import AGENT, PYTHON, SCRIPT, TOOL, PythonInput, ScriptInput, ToolInput

from .decision_builder import DecisionBuilder
from .state import TRANSFORM, Work, work_id

JAVASCRIPT = "javascript"
_NAMES = ("input",)
_encode = msgspec.json.Encoder().encode


def action_task(builder: DecisionBuilder, step: StepPlan, index: int | None, work: Work) -> Task:
    id = work_id(step.name, index)
    key = idempotency_key(builder, id, work.generation)
    kind, input = task_input(builder, step.action, work.input, id, key, step.timeout)
    if kind == SCRIPT:
        input = msgspec.structs.replace(input, timeout=step.policy.timeout)
    return Task(TaskToken(id), id, kind, input, step.policy, key)


def transform_task(builder: DecisionBuilder, step: StepPlan, index: int | None, work: Work) -> Task:
    """A task that only transforms what was returned."""
    id = work_id(step.name, index)
    token = TaskToken(id + TRANSFORM)
    input = ScriptInput(JAVASCRIPT, step.action.transform, _NAMES, work.raw)
    key = f"{idempotency_key(builder, id, work.generation)}{TRANSFORM}"
    return Task(token, f"transform of {id}", SCRIPT, input, TRANSFORM_POLICY, key, node=id)


def idempotency_key(builder: DecisionBuilder, id: str, generation: int) -> str:
    """Equal on all attempts, and after a crash; changes only when the step is redone after an answer."""
    return f"{builder.context.info.run_id}/{id}/{generation}"


def task_input(
    builder: DecisionBuilder, action: Action, input: Raw, id: str, key: str, timeout: float | None = None
) -> tuple[str, Any]:
    """The kind of a task and its input. `timeout` is that of code; other kinds have it in their policy."""
    match action.kind:
        case "tool":
            meta = {
                "plait/run": caller_id(builder.context.info.run_id),
                "plait/step": id,
                "plait/idempotency-key": key,
            }
            whole = builder.plan.mode == "recording"  # its caller gets the server's whole answer
            return TOOL, ToolInput(action.name, input, builder.plan.servers, Raw(_encode(meta)), whole=whole)
        case "function":
            return PYTHON, PythonInput(action.name, input)
        case "code":
            return SCRIPT, ScriptInput(JAVASCRIPT, action.code, _NAMES, input, timeout=timeout)
        case "agent":
            if action.agent is None:
                raise AssertionError(f"step `{id}` has no agent")
            definition = builder.context.info.definition
            return AGENT, action.agent.input(input, execution=key, node_id=id, workflow=definition)
        case "return" | "workflow":
            raise AssertionError(f"`{action.kind}` is no task")
        case _:
            assert_never(action.kind)


def compensator_policy(step: StepPlan, action: Action) -> Policy:
    """Like the policy of its step, but interrupted attempts are always repeated: what was done must be undone."""
    timeout = default_timeout(action.kind)
    grace = SANDBOX_GRACE if action.kind == "code" else 0.0
    return msgspec.structs.replace(step.policy, timeout=None if timeout is None else timeout + grace, recoveries=None)
