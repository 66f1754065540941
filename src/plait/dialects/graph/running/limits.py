"""Limits of a run: on hops, fan-out, tokens and payload bytes."""

from __future__ import annotations

from plait.dialects.graph.definition.limits import CHOSEN_FANOUT, WRITTEN_FANOUT

from .decision_builder import DecisionBuilder
from .events import LimitExceeded, Via
from .topology import NodePlan


def breach(
    builder: DecisionBuilder, plan: NodePlan, targets: tuple[str, ...], via: Via, hop: int
) -> LimitExceeded | None:
    """The limit that emitting to these targets would exceed, or None."""
    limits, state = builder.run.plan.ir.limits, builder.run.state
    if limits.max_bytes_scanned is not None and state.scanned > limits.max_bytes_scanned:
        what = f"nodes were given {state.scanned:,} bytes; the limit is {limits.max_bytes_scanned:,}"
        return _exceeded(plan, "exceeded_max_bytes", what)
    if not targets:
        return None
    hops = limits.max_hops if plan.ir.limits.max_hops is None else min(limits.max_hops, plan.ir.limits.max_hops)
    if hop >= hops:
        return _exceeded(plan, "exceeded_max_hops", f"a token has made {hop} hops; the limit is {hops}")
    fanout = limits.max_fanout or (CHOSEN_FANOUT if via == "handler" else WRITTEN_FANOUT)
    if len(targets) > fanout:
        return _exceeded(plan, "exceeded_max_fanout", f"it has {len(targets)} targets; the limit is {fanout}")
    pace = builder.run.plan.pace
    if pace is not None and state.free_from > builder.now and (held := builder.run.held + len(targets)) > pace.depth:
        what = f"the throttle holds back {held:,} tokens; the limit is {pace.depth:,}"
        return _exceeded(plan, "exceeded_max_queue_depth", what)
    if (tokens := state.emitted + len(targets)) > limits.max_tokens:
        return _exceeded(
            plan, "exceeded_max_tokens", f"the run has {tokens:,} tokens; the limit is {limits.max_tokens:,}"
        )
    return None


def _exceeded(plan: NodePlan, code: str, what: str) -> LimitExceeded:
    return LimitExceeded(plan.id, f"graph.{code}", f"`{plan.id}`: {what}")
