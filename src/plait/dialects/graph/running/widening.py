"""Whether a patch of a run would loosen what it is held to: limits, policy, capabilities."""

from __future__ import annotations

from plait.dialects.graph.definition.ir import Ir
from plait.dialects.graph.definition.source import Capabilities, Limits, Policy
from plait.kernel.errors import Forbidden

_CEILINGS = ("max_fanout", "max_hops", "max_tokens", "max_wall_time_s", "max_bytes_scanned")


def widened(old: Ir, new: Ir) -> Forbidden | None:
    what = _limits(old.limits, new.limits) or _policy(old.policy, new.policy) or _capabilities(old, new)
    if not what:
        return None
    return Forbidden(
        "graph.widens_guardrail",
        f"the patch loosens {what}",
        why="a run can't be given more than it was started with",
        fix="start another run, or save a new version",
    )


def _limits(old: Limits, new: Limits) -> str:
    return next((f"limits.{name}" for name in _CEILINGS if _above(getattr(old, name), getattr(new, name))), "")


def _above(old: float | None, new: float | None) -> bool:
    return old is not None and (new is None or new > old)


def _policy(old: Policy, new: Policy) -> str:
    if old.allowed_transitions is not None:
        if new.allowed_transitions is None:
            return "policy.allowed_transitions"
        for node, targets in new.allowed_transitions.items():
            if set(targets) - set(old.allowed_transitions.get(node, [])):
                return f"policy.allowed_transitions of `{node}`"
    if [rule for rule in old.rules if rule.effect == "deny" and rule not in new.rules]:
        return "the policy's rules that deny"
    before = [rule for rule in old.rules if rule.effect == "allow"]
    after = [rule for rule in new.rules if rule.effect == "allow"]
    if before and (not after or any(rule not in before for rule in after)):
        return "the policy's rules that allow"
    return ""


def _capabilities(old: Ir, new: Ir) -> str:
    for node in new.nodes.values():
        before = old.nodes.get(node.id)
        if before is None:
            continue
        if what := _capability(before.capabilities, node.capabilities):
            return f"{what} of `{node.id}`"
        if _above(before.limits.max_hops, node.limits.max_hops):
            return f"limits.max_hops of `{node.id}`"
    return ""


def _capability(old: Capabilities, new: Capabilities) -> str:
    if _more(old.can_emit_to, new.can_emit_to):
        return "capabilities.can_emit_to"
    if _above(old.max_fanout, new.max_fanout):
        return "capabilities.max_fanout"
    if old.requires_approval and not new.requires_approval:
        return "capabilities.requires_approval"
    return "capabilities.allowed_tools" if _more(old.allowed_tools, new.allowed_tools) else ""


def _more(old: list[str] | None, new: list[str] | None) -> bool:
    return old is not None and (new is None or bool(set(new) - set(old)))
