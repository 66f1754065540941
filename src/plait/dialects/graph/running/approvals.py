"""Approvals: what a human node asks, what follows from the answer, and what happens when none comes.

A human node consumes its token and asks in the same decision, so the counter may be 0 while a run waits for people.
A node that requires approval asks before it runs; its token waits, and is counted.
"""

from __future__ import annotations

import hashlib
from typing import Any, Literal, cast

import msgspec
from msgspec import Raw

from plait.dialects.graph.definition.source import Escalation as EscalationPolicy
from plait.dialects.graph.definition.source import HumanConfig
from plait.kernel.approval import Escalation
from plait.kernel.effects import ClearTimer, RequestApproval, SetTimer, WithdrawApproval
from plait.kernel.errors import Conflict, InvalidInput
from plait.kernel.ids import Millis, TaskToken
from plait.kernel.inputs import Decided
from plait.kernel.values import ABSENT

from .conditions import OutsideVerdict
from .decision_builder import DecisionBuilder, error
from .ending import fail_run
from .events import ApprovalCreated, ApprovalDecided
from .failure import fail
from .guardrails import denial
from .opa import denied_way, judged_ways
from .routing import Route, route
from .settle import consume, emit
from .state import TIMEOUT, Execution, OpenApproval
from .topology import NodePlan

Outcome = Literal["approve", "reject", "timeout"]

SYSTEM = "system"
_HOUR = 3_600_000
_DEFAULT = HumanConfig()
_AUTO = ("auto_approve", "auto_approve_after_timeout")
_encode = msgspec.json.Encoder().encode


def ask(builder: DecisionBuilder, plan: NodePlan, execution: Execution) -> None:
    consume(builder, execution, ABSENT, 1)
    _request(builder, plan, execution, before=False)


def ask_before(builder: DecisionBuilder, execution: Execution) -> None:
    _request(builder, builder.plan(execution), execution, before=True)


def _request(builder: DecisionBuilder, plan: NodePlan, execution: Execution, *, before: bool) -> None:
    config = plan.ir.human_config or _DEFAULT
    token = f"{plan.id}.{execution.id[:8]}"
    event = ApprovalCreated(
        approval_id=token,
        node_id=plan.id,
        token_id=execution.id,
        title=config.title or plan.ir.name or plan.id,
        hop=execution.hop,
        loops=execution.loops,
        approvers=list(config.approvers),
        timeout_at=_deadline(config, builder.now),
        evidence_hash=hashlib.sha256(bytes(execution.payload)).hexdigest(),
        before=before,
        judged=judged_ways(execution),
    )
    builder.record(event)
    for effect in request_effects(builder, builder.run.state.approvals[token]):
        builder.effect(effect)


def request_effects(builder: DecisionBuilder, approval: OpenApproval) -> list[RequestApproval | SetTimer]:
    config = builder.run.plan.nodes[approval.node].ir.human_config or _DEFAULT
    policy, escalations = config.escalation_policy, ()
    if isinstance(policy, EscalationPolicy) and config.timeout_hours is not None:
        to = [policy.escalate_to] if isinstance(policy.escalate_to, str) else policy.escalate_to
        escalations = (Escalation(Millis(round(config.timeout_hours * _HOUR)), tuple(to)),)
    request = RequestApproval(
        TaskToken(approval.id),
        approval.title,
        by=", ".join(approval.approvers),
        deadline=approval.timeout_at,
        form=ABSENT if config.form_schema is None else Raw(_encode(config.form_schema)),
        evidence=approval.payload,
        approvers=tuple(approval.approvers),
        escalations=escalations,
        service=config.approval_ui_url or "",
    )
    if approval.timeout_at is None:
        return [request]
    return [request, SetTimer(TaskToken(TIMEOUT + approval.id), approval.timeout_at)]


def _deadline(config: HumanConfig, now: Millis) -> Millis | None:
    if config.timeout_hours is None:
        return None
    hours, policy = config.timeout_hours, config.escalation_policy
    if isinstance(policy, EscalationPolicy):
        hours += policy.timeout_hours
    return Millis(now + round(hours * _HOUR))


# -- the answer --------------------------------------------------------------------------------------------------------


def decided(builder: DecisionBuilder, given: Decided) -> None:
    approval = builder.run.state.approvals.get(given.token)
    if approval is None:
        raise Conflict(
            "graph.approval_decided",
            f"approval `{given.token}` is not open",
            why="it was decided, timed out or was cancelled",
            fix="look at the run to see what was decided",
        )
    if given.decision not in ("approve", "reject"):
        raise InvalidInput("graph.bad_decision", f"`{given.decision}` is no decision", fix="use approve or reject")
    targets = _conclude(builder, approval, given.decision, given.by, given.comment, given.data)
    answer = {"approval_id": given.token, "status": "resumed", "next_nodes": targets}
    builder.decision.reply = Raw(_encode(answer))


def timed_out(builder: DecisionBuilder, token: str) -> None:
    approval = builder.run.state.approvals.get(token)
    if approval is None:
        return
    policy = (builder.run.plan.nodes[approval.node].ir.human_config or _DEFAULT).escalation_policy
    approves = policy in _AUTO or (isinstance(policy, EscalationPolicy) and policy.then == "auto_approve")
    builder.effect(WithdrawApproval(TaskToken(token), "approved" if approves else "expired", SYSTEM))
    _conclude(builder, approval, "approve" if approves else "timeout", SYSTEM, "", Raw(b"null"))


def _conclude(
    builder: DecisionBuilder, approval: OpenApproval, outcome: Outcome, by: str, comment: str, data: Raw
) -> list[str]:
    """Records what follows from a decision; returns the nodes that it goes on to."""
    if approval.timeout_at is not None:
        builder.effect(ClearTimer(TaskToken(TIMEOUT + approval.id)))
    output = _answer(builder, approval, outcome, by, comment, data)
    if approval.before:
        _record(builder, approval, outcome, by, comment, output, [approval.node] if outcome == "approve" else [])
        execution = builder.run.state.executions[approval.token]
        if outcome == "approve":
            builder.ready.append(execution)
        else:
            fail(builder, execution, error("rejected", f"`{approval.node}` was not approved: {outcome} by {by}"))
        return [approval.node]
    plan = builder.run.plan.nodes[approval.node]
    way = _way(builder, plan, approval, outcome, output)
    _record(builder, approval, outcome, by, comment, output, list(way.targets))
    for event in way.events:
        builder.record(event)
    if way.failure is not None:
        fail_run(builder, way.failure)
    else:
        loops = approval.loops if way.loops is None else way.loops
        emit(builder, plan, f"approval_{approval.id}", approval.token, way.targets, way.via, approval.hop, loops)
    return list(way.targets)


def _way(builder: DecisionBuilder, plan: NodePlan, approval: OpenApproval, outcome: Outcome, output: Raw) -> Route:
    if outcome != "approve":
        config = plan.ir.human_config or _DEFAULT
        way = Route(plan.ir.rejection_path or (), "rejected")
        if plan.ir.rejection_path is None and config.on_reject == "fail":
            way.failure = error("rejected", f"`{plan.id}` was not approved: {outcome}")
    else:
        settled = Execution(approval.token, plan.id, [], approval.payload, approval.hop, approval.at, approval.loops)
        try:
            way = route(builder, plan, settled, output)
        except OutsideVerdict:
            what = f"a condition of `{plan.id}` needs a sandbox, which a human node can't wait for"
            way = Route((), "approved", failure=error("condition_error", what))
    way.failure = way.failure or denial(builder, plan, way)
    way.failure = way.failure or denied_way(builder, plan, way, approval.judged)
    return way


def _record(
    builder: DecisionBuilder,
    approval: OpenApproval,
    outcome: Outcome,
    by: str,
    comment: str,
    output: Raw,
    targets: list[str],
) -> None:
    event = ApprovalDecided(
        approval.id, approval.node, outcome, by, comment, output, approval.evidence_hash, next_nodes=targets
    )
    builder.record(event)


def _answer(
    builder: DecisionBuilder, approval: OpenApproval, outcome: Outcome, by: str, comment: str, data: Raw
) -> Raw:
    payload: Any = msgspec.json.decode(approval.payload)
    found = cast("dict[str, Any]", payload) if isinstance(payload, dict) else {"payload": payload}
    found |= {
        "decision": outcome,
        "approved": outcome == "approve",
        "comments": comment,
        "decided_by": by,
        "decided_at": builder.now,
    }
    if bytes(data) != b"null":
        found["data"] = data
    return Raw(_encode(found))
