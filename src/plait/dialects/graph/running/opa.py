"""A task asks the namespace's policy server about every emit. Any error denies it.

This is asked outside the decision, target by target, and each answer is recorded: a replay asks nothing. A human
node has no token any more once people have decided, so it asks beforehand, about every possible target.
"""

from __future__ import annotations

from typing import Any, cast

import msgspec
from msgspec import Raw

from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import TaskToken, caller_id
from plait.kernel.inputs import TaskResult
from plait.kernel.retry import Retry
from plait.kernel.task import Policy, Task
from plait.kernel.task_inputs import HTTP, HttpInput

from .conditions import OutsideVerdict
from .decision_builder import DecisionBuilder
from .guardrails import USER, deny
from .routing import Route
from .state import Execution, Judgement
from .topology import NodePlan

OPA = "/opa/"
"""The pointer prefix of the verdict on a target."""
_JSON = {"Accept": "application/json", "Content-Type": "application/json"}
_DENIES = "the policy server denies it"
_MARGIN = 1.0
_encode = msgspec.json.Encoder().encode


def denied_outside(builder: DecisionBuilder, plan: NodePlan, execution: Execution, way: Route) -> ErrorInfo | None:
    """Like `denial`. Raises `OutsideVerdict` if the server must be asked first."""
    if builder.run.plan.namespace_policy.opa is None:
        return None
    for target in way.targets:
        verdict = execution.verdicts.get(OPA + target)
        if verdict is None:
            raise OutsideVerdict(OPA + target)
        if not verdict.value:
            return _denied(plan, way, target, verdict.message or _DENIES)
    return None


def judged_ways(execution: Execution) -> dict[str, str]:
    """The server's verdict for each target of a human node: empty, or why it denies it."""
    return {
        pointer.removeprefix(OPA): "" if verdict.value else verdict.message or _DENIES
        for pointer, verdict in execution.verdicts.items()
        if pointer.startswith(OPA)
    }


def denied_way(builder: DecisionBuilder, plan: NodePlan, way: Route, judged: dict[str, str]) -> ErrorInfo | None:
    """Like `denial`, for a human node. A target that a patch has added since was not asked about, and is denied."""
    if builder.run.plan.namespace_policy.opa is None:
        return None
    for target in way.targets:
        if why := judged.get(target, "the policy server was not asked about it"):
            return _denied(plan, way, target, why)
    return None


def _denied(plan: NodePlan, way: Route, target: str, why: str) -> ErrorInfo:
    return deny(plan, way, target, "policy_denied", f"`{plan.id}` may not emit to `{target}`: {why}")


def unasked(builder: DecisionBuilder, plan: NodePlan, execution: Execution) -> str | None:
    """The next target of a human node that the server must be asked about."""
    if builder.run.plan.namespace_policy.opa is None:
        return None
    back = [] if plan.ir.loop is None else [plan.ir.loop.loop_back_to]
    return next((OPA + each for each in (*plan.ir.dependents, *back) if OPA + each not in execution.verdicts), None)


def opa_task(builder: DecisionBuilder, execution: Execution, pointer: str, mark: str) -> Task:
    settings = builder.run.plan.namespace_policy.opa
    assert settings is not None
    info = builder.context.info
    asked = {
        "from_node": execution.node,
        "to_node": pointer.removeprefix(OPA),
        "user": info.labels.get(USER, ""),
        "input": builder.run.state.input,
        "namespace": info.namespace,
        "workflow": info.definition,
        "run_id": caller_id(info.run_id),
    }
    input = HttpInput(url=settings.url, headers=_JSON, body=Raw(_encode({"input": asked})), timeout=settings.timeout_s)
    policy = Policy(Retry(max_attempts=3, first=0.2), timeout=settings.timeout_s + _MARGIN, retry_on_timeout=True)
    token = TaskToken(f"{execution.task}{mark}{pointer}")
    return Task(token, f"policy of {execution.node}", HTTP, input, policy, f"{info.run_id}:{token}", execution.node)


def opa_judgement(result: TaskResult) -> Judgement:
    """`{"result": true}`, or `{"result": {"allow": true, "reason": "…"}}`; anything else denies."""
    if result.error is not None:
        return Judgement(code="opa_failed", message=f"the policy server did not answer: {result.error.message}")
    answer: Any = msgspec.json.decode(result.output)
    found: Any = cast("dict[str, Any]", answer).get("result") if isinstance(answer, dict) else None
    if isinstance(found, bool):
        return Judgement(found)
    if isinstance(found, dict) and isinstance(allow := cast("dict[str, Any]", found).get("allow"), bool):
        reason: Any = cast("dict[str, Any]", found).get("reason")
        return Judgement(allow, message=reason if isinstance(reason, str) and not allow else "")
    return Judgement(code="opa_failed", message="the policy server has no such policy: its answer has no `result`")
