"""The compensations of a run: every success of a node with a compensator, each iteration, oldest first."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from plait.dialects.graph.definition.source import Compensator
from plait.kernel.ids import TaskToken, caller_id
from plait.kernel.retry import Retry
from plait.kernel.task import Policy, Task

from .decision_builder import DecisionBuilder
from .state import Done
from .tasks import CALL_HANDLER, HandlerInput

COMPENSATE = "compensate:"
_encode = msgspec.json.Encoder().encode


def compensations(builder: DecisionBuilder) -> list[Task]:
    nodes = builder.run.plan.nodes
    found: list[Task] = []
    for done in builder.run.state.done:
        plan = nodes.get(done.node)
        if plan is not None and plan.ir.compensator is not None:
            found.append(_task(builder, done, plan.ir.compensator))
    return found


def _task(builder: DecisionBuilder, done: Done, compensator: Compensator) -> Task:
    run_id = builder.context.info.run_id
    payload = {"input": done.input, "output": done.output, "config": compensator.config}
    input = HandlerInput(
        handler=compensator.action,
        payload=Raw(_encode(payload)),
        config=Raw(_encode(compensator.config)),
        run_id=caller_id(run_id),
        node_id=done.node,
        token_id=done.id,
    )
    policy = Policy(
        Retry(max_attempts=compensator.retry, first=1.0), timeout=compensator.timeout_sec, retry_on_timeout=True
    )
    token = TaskToken(COMPENSATE + done.id)
    label, key = f"compensate {done.node}", f"{run_id}:{token}"
    if builder.context.handlers.known(compensator.action):
        return Task(token, label, CALL_HANDLER, input, policy, key, done.node)
    called, code = input.on_queue()
    return Task(token, label, CALL_HANDLER, called, policy, key, done.node, "wf.tasks.default", code=code)
