"""When a join fires: each of its dependencies has sent a token of this round, or can send none any more.

Where a loop has several tokens, one of an earlier round may still reach this round. The join waits for it: what
can't come any more never can, so how often a join fires does not depend on timing.
"""

from __future__ import annotations

from .decision_builder import DecisionBuilder
from .events import JoinFired
from .graph_run import GraphRun, JoinWait
from .positions import JoinKey, Masks, behind, round_in
from .topology import NodePlan


def fire_joins(builder: DecisionBuilder) -> bool:
    """Fires all joins that may fire; returns whether one did."""
    run, fired = builder.run, False
    if not run.joins:
        return False
    while keys := run.take_dirty():
        for key in keys:
            if may_fire(run, key):
                _fire(builder, key)
                fired = True
    return fired or _fire_stuck(builder)


def may_fire(run: GraphRun, key: JoinKey) -> bool:
    """Whether no missing dependency can deliver a token any more; those are marked dead. A single one that can is
    enough to wait: the join is checked again when its token has moved."""
    wait, (node, round) = run.joins[key], key
    plan = run.plan.nodes[node]
    for dependency in list(wait.missing):
        masks = _masks(run, plan, dependency, round, wait.parked)
        place = run.positions.find(masks, plan.ir.loops, round)
        if place is not None:
            run.positions.watch(place, key)
            return False
        del wait.missing[dependency]
        wait.dead[dependency] = None
    return True


def _masks(run: GraphRun, plan: NodePlan, dependency: str, round: tuple[int, ...], parked: int) -> Masks:
    """The nodes from which a dependency can still get a token. Tokens parked at the join don't make it wait."""

    def nodes(behind: int | None) -> int:
        if behind is not None:
            return run.plan.coming(plan, dependency, round, behind)
        found = run.plan.reaching(plan, dependency)
        if found >> plan.place & 1 and run.positions.count(plan.place, plan.ir.loops, round) == parked:
            found ^= 1 << plan.place
        return found

    return nodes


def _fire(builder: DecisionBuilder, key: JoinKey) -> None:
    (node, round), wait = key, builder.run.joins[key]
    order = builder.run.plan.nodes[node].ir.dependencies
    arrived = [dependency for dependency in order if dependency in wait.arrived]
    arrived += [origin for origin in wait.arrived if origin not in order]  # dependencies that a patch has removed
    tokens = [wait.arrived[dependency][0] for dependency in arrived]
    absent = [dependency for dependency in order if dependency not in wait.arrived]
    builder.record(JoinFired(node, tokens, arrived, absent, list(round)))
    builder.begin(tokens[:1])


def _fire_stuck(builder: DecisionBuilder) -> bool:
    """Fires the first join if only parked tokens are left and joins wait for each other, unless a dead letter may still
    bring what it waits for."""
    run = builder.run
    if run.active or run.state.approvals or builder.ready:
        return False
    for key in sorted(run.joins, key=run.join_order):
        if not _waits_for_dead(run, key, run.joins[key]):
            _fire(builder, key)
            return True
    return False


def _waits_for_dead(run: GraphRun, key: JoinKey, wait: JoinWait) -> bool:
    plan, round = run.plan.nodes[key[0]], key[1]
    dead = [(round_in(each.loops, plan.ir.loops), run.plan.nodes[each.node].place) for each in run.dead()]
    for dependency in wait.missing:
        masks = _masks(run, plan, dependency, round, 0)
        if any(theirs <= round and masks(behind(theirs, round)) >> place & 1 for theirs, place in dead):
            return True
    return False
