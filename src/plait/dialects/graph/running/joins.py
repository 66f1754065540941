"""When a join fires: each of its dependencies has sent a token of this round, or can send none any more."""

from __future__ import annotations

from .decision_builder import DecisionBuilder
from .events import JoinFired
from .graph_run import GraphRun, JoinWait
from .positions import JoinKey


def fire_joins(builder: DecisionBuilder) -> bool:
    """Fires all that may; True if one did."""
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
    """Dependencies that nothing can come from any more are noted as dead; one that something can come from is enough
    to wait, and the join is looked at again when that has moved on."""
    wait, (node, round) = run.joins[key], key
    plan = run.plan.nodes[node]
    for dependency in list(wait.missing):
        nodes = run.plan.reaching(plan, dependency)
        if nodes >> plan.place & 1 and run.positions.count(plan.place, plan.ir.loops, round) == wait.parked:
            nodes ^= 1 << plan.place  # what is parked here does not wait for itself
        place = run.positions.find(nodes, plan.ir.loops, round)
        if place is not None:
            run.positions.watch(place, key)
            return False
        del wait.missing[dependency]
        wait.dead[dependency] = None
    return True


def _fire(builder: DecisionBuilder, key: JoinKey) -> None:
    (node, round), wait = key, builder.run.joins[key]
    order = builder.run.plan.nodes[node].ir.dependencies
    arrived = [dependency for dependency in order if dependency in wait.arrived]
    arrived += [origin for origin in wait.arrived if origin not in order]  # of a patched graph
    tokens = [wait.arrived[dependency][0] for dependency in arrived]
    absent = [dependency for dependency in order if dependency not in wait.arrived]
    builder.record(JoinFired(node, tokens, arrived, absent, list(round)))
    builder.begin(tokens[:1])


def _fire_stuck(builder: DecisionBuilder) -> bool:
    """Only parked tokens are left, and joins wait for each other: the first one goes, unless a dead letter may still
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
    dead = 0
    for execution in run.dead():
        if run.plan.round_of(plan, execution.loops) == round:
            dead |= 1 << run.plan.nodes[execution.node].place
    return any(run.plan.reaching(plan, dependency) & dead for dependency in wait.missing)
