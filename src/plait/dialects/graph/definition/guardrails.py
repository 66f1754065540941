"""Whether a patch allows more than the definition did: its capabilities, its policy, its limits.

A patch of a running graph may tighten these, never loosen them: what a run may do was settled when it started.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from plait.definitions.flaws import Note
from plait.definitions.hashing import canonical

from .ir import Ir, IrNode
from .limits import WRITTEN_FANOUT
from .pressure import pace_of
from .source import Limits, Policy, PolicyRule

WIDENS = "graph.widens_guardrail"


def widened(before: Ir, after: Ir) -> Iterator[Note]:
    for id, node in after.nodes.items():
        if id in before.nodes:
            yield from _node(before.nodes[id], node)
    yield from _policy(before.policy, after.policy)
    yield from _limits(before.limits, after.limits)


def _node(before: IrNode, after: IrNode) -> Iterator[Note]:
    old, new, at = before.capabilities, after.capabilities, f"/nodes/{after.id}"
    place = f"`{after.id}`: capabilities"
    if _more(old.can_emit_to, new.can_emit_to):
        yield _note(f"{at}/capabilities/can_emit_to", f"{place}.can_emit_to")
    if _more(old.allowed_tools, new.allowed_tools):
        yield _note(f"{at}/capabilities/allowed_tools", f"{place}.allowed_tools")
    if _higher(old.max_fanout, new.max_fanout):
        yield _note(f"{at}/capabilities/max_fanout", f"{place}.max_fanout")
    if old.requires_approval and not new.requires_approval:
        yield _note(f"{at}/capabilities/requires_approval", f"{place}.requires_approval")
    if _higher(before.limits.max_hops, after.limits.max_hops):
        yield _note(f"{at}/limits/max_hops", f"`{after.id}`: limits.max_hops")


def _policy(before: Policy, after: Policy) -> Iterator[Note]:
    if _more_transitions(before, after):
        yield _note("/policy/allowed_transitions", "policy.allowed_transitions")
    if _looser_rules(before.rules, after.rules):
        yield _note("/policy/rules", "policy.rules")
    if not set(before.pii_fields) <= set(after.pii_fields):
        yield _note("/policy/pii_fields", "policy.pii_fields")


def _more_transitions(before: Policy, after: Policy) -> bool:
    """Whether more transitions are allowed; once there is a list, what it leaves out is not allowed."""
    old, new = before.allowed_transitions, after.allowed_transitions
    if old is None:
        return False
    return new is None or any(_more(old.get(id, ()), targets) for id, targets in new.items())


def _looser_rules(before: Sequence[PolicyRule], after: Sequence[PolicyRule]) -> bool:
    """Whether a deny is gone, an allow is new, or no allow is left where one had to match."""
    if not _texts(before, "deny") <= _texts(after, "deny"):
        return True
    old, new = _texts(before, "allow"), _texts(after, "allow")
    return bool(old) and (not new or not new <= old)


def _texts(rules: Sequence[PolicyRule], effect: str) -> set[bytes]:
    return {canonical(rule.condition) for rule in rules if rule.effect == effect}


def _limits(before: Limits, after: Limits) -> Iterator[Note]:
    pairs = {
        "max_fanout": (before.max_fanout or WRITTEN_FANOUT, after.max_fanout or WRITTEN_FANOUT),
        "max_hops": (before.max_hops, after.max_hops),
        "max_tokens": (before.max_tokens, after.max_tokens),
        "max_wall_time_s": (before.max_wall_time_s, after.max_wall_time_s),
        "max_bytes_scanned": (before.max_bytes_scanned, after.max_bytes_scanned),
        "max_llm_tokens": (before.max_llm_tokens, after.max_llm_tokens),
        "max_cost_usd": (before.max_cost_usd, after.max_cost_usd),
    }
    for name, (old, new) in pairs.items():
        if _higher(old, new):
            yield _note(f"/limits/{name}", f"limits.{name}")
    if _faster(before, after):
        yield _note("/limits/backpressure", "limits.backpressure")


def _faster(before: Limits, after: Limits) -> bool:
    """Whether a throttle is loosened or removed."""
    old, new = pace_of(before), pace_of(after)
    if old is None:
        return False
    return new is None or new.interval < old.interval or new.depth > old.depth


def _more(before: Collection[str] | None, after: Collection[str] | None) -> bool:
    """Whether more is allowed; None allows everything."""
    return before is not None and (after is None or not set(after) <= set(before))


def _higher(before: float | None, after: float | None) -> bool:
    """Whether the limit is higher; None means no limit."""
    return before is not None and (after is None or after > before)


def _note(pointer: str, what: str) -> Note:
    return Note(pointer, f"the patch loosens {what}", "leave it as it is, or start a new run", WIDENS)
