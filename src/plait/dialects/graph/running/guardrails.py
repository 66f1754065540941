"""Guardrails: what a node may emit to. Checked on every emit; whatever forbids it wins."""

from __future__ import annotations

from plait.conditions import Facts
from plait.kernel.errors import ErrorInfo

from .conditions import judgement
from .decision_builder import DecisionBuilder, error
from .events import PolicyDenied
from .routing import Route
from .topology import NodePlan


def denial(builder: DecisionBuilder, plan: NodePlan, way: Route) -> ErrorInfo | None:
    """Why the targets are not allowed; an event for it is added to the way."""
    capabilities = plan.ir.capabilities
    if capabilities.max_fanout is not None and len(way.targets) > capabilities.max_fanout:
        what = f"`{plan.id}` may emit {capabilities.max_fanout} tokens at once, not {len(way.targets)}"
        return _deny(plan, way, "", "fanout_denied", what)
    for target in way.targets:
        why = _forbidden(builder, plan, target)
        if why:
            return _deny(plan, way, target, "policy_denied", f"`{plan.id}` may not emit to `{target}`: {why}")
    return None


def _deny(plan: NodePlan, way: Route, target: str, code: str, what: str) -> ErrorInfo:
    way.events.append(PolicyDenied(plan.id, target, f"graph.{code}", what))
    way.retryable = False
    return error(code, what)


def _forbidden(builder: DecisionBuilder, plan: NodePlan, target: str) -> str:
    allowed, policy = plan.ir.capabilities.can_emit_to, builder.run.plan.ir.policy
    if allowed is not None and target not in allowed:
        return "its capabilities allow " + (", ".join(allowed) or "nothing")
    transitions = policy.allowed_transitions
    if transitions is not None and target not in transitions.get(plan.id, []):
        return "the policy's allowed_transitions don't have it"
    return _ruled_out(builder, plan, target) if policy.rules else ""


def _ruled_out(builder: DecisionBuilder, plan: NodePlan, target: str) -> str:
    """Deny wins; where there are rules that allow, one must match. A rule that can't be judged denies."""
    plan_of_run, allowed = builder.run.plan, None
    user = builder.context.info.labels.get("user", "")
    facts = Facts({"from_node": plan.id, "to_node": target, "user": user, "input": builder.input()}, plan.id)
    for number, rule in enumerate(plan_of_run.ir.policy.rules):
        found = judgement(plan_of_run.conditions[f"/policy/rules/{number}"].judge(facts))
        if found.code and not found.soft:
            return f"rule {number} can't be judged: {found.message}"
        if rule.effect == "deny" and found.value:
            return f"rule {number} denies it"
        if rule.effect == "allow":
            allowed = bool(allowed) or found.value
    return "no rule allows it" if allowed is False else ""
