"""Guardrails: what a node may emit to. Checked on every emit: its capabilities, the policy of the graph and that of the
namespace must all allow it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from plait.conditions import Facts
from plait.dialects.graph.definition.namespace_policy import RULES
from plait.dialects.graph.definition.source import PolicyRule
from plait.kernel.errors import ErrorInfo

from .conditions import judgement
from .decision_builder import DecisionBuilder, error
from .events import PolicyDenied
from .routing import Route
from .topology import NodePlan

USER = "user"
"""The label that names the user for whom the run runs."""


def denial(builder: DecisionBuilder, plan: NodePlan, way: Route) -> ErrorInfo | None:
    """Why the targets are denied, or None; adds an event for it to the route."""
    most = [
        each
        for each in (plan.ir.capabilities.max_fanout, builder.run.plan.namespace_policy.max_fanout)
        if each is not None
    ]
    if most and len(way.targets) > min(most):
        what = f"`{plan.id}` may emit {min(most)} tokens at once, not {len(way.targets)}"
        return deny(plan, way, "", "fanout_denied", what)
    for target in way.targets:
        why = _forbidden(builder, plan, target)
        if why:
            return deny(plan, way, target, "policy_denied", f"`{plan.id}` may not emit to `{target}`: {why}")
    return None


def deny(plan: NodePlan, way: Route, target: str, code: str, what: str) -> ErrorInfo:
    way.events.append(PolicyDenied(plan.id, target, f"graph.{code}", what))
    way.retryable = False
    return error(code, what)


def _forbidden(builder: DecisionBuilder, plan: NodePlan, target: str) -> str:
    allowed, own = plan.ir.capabilities.can_emit_to, builder.run.plan.ir.policy
    around = builder.run.plan.namespace_policy
    if allowed is not None and target not in allowed:
        return "its capabilities allow " + (", ".join(allowed) or "nothing")
    return (
        _not_listed(own.allowed_transitions, plan, target, "the policy")
        or _not_listed(around.allowed_transitions, plan, target, "the policy of the namespace")
        or _ruled_out(builder, plan, target, own.rules, "/policy/rules", "rule")
        or _ruled_out(builder, plan, target, around.rules, RULES, "rule of the namespace")
    )


def _not_listed(transitions: Mapping[str, Sequence[str]] | None, plan: NodePlan, target: str, whose: str) -> str:
    listed = transitions is None or target in transitions.get(plan.id, ())
    return "" if listed else f"the allowed_transitions of {whose} don't have it"


def _ruled_out(
    builder: DecisionBuilder, plan: NodePlan, target: str, rules: Sequence[PolicyRule], pointer: str, name: str
) -> str:
    """Deny wins; if there are allow rules, one must match. A rule that can't be evaluated denies."""
    if not rules:
        return ""
    allowed = None
    user = builder.context.info.labels.get(USER, "")
    facts = Facts({"from_node": plan.id, "to_node": target, "user": user, "input": builder.input()}, plan.id)
    for number, rule in enumerate(rules):
        found = judgement(builder.run.plan.conditions[f"{pointer}/{number}"].judge(facts))
        if found.code and not found.soft:
            return f"{name} {number} can't be judged: {found.message}"
        if rule.effect == "deny" and found.value:
            return f"{name} {number} denies it"
        if rule.effect == "allow":
            allowed = bool(allowed) or found.value
    return f"no {name} allows it" if allowed is False else ""
