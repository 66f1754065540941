"""A fork: another run with the same history up to some event, perhaps with other outputs and another graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from plait.kernel import values
from plait.kernel.bundle import ForkPlan
from plait.kernel.errors import InvalidInput
from plait.kernel.events import Recorded
from plait.kernel.ids import RunId, caller_id

from .agent_edits import agent_operations
from .events import GraphForked
from .graph_run import GraphRun
from .topologies import Topologies
from .topology import Topology

_EDITS = ("outputs", "operations", "agents")
_ROUTES = ("loop.continued", "loop.exited", "branch.taken", "condition.error", "node.emitted")
"""Events about where a completed node goes on: cutting between them and its end would lose a token."""


def is_one(event: Recorded, following: Recorded) -> bool:
    """Whether two successive events belong together."""
    match following.type:
        case "node.consumed":
            return event.type == "message.taken"
        case "token.dead_lettered":
            return event.type == "node.failed"
        case "approval.created":
            return not following.data.get("before")
        case _:
            return following.type in _ROUTES


def fork(
    run: GraphRun,
    source: RunId,
    at: int | str | None,
    edits: Mapping[str, Any],
    topologies: Topologies,
    check: Callable[[Topology], None],
) -> ForkPlan:
    """`at` is the number of the last shared event, or a node to redo. `check` refuses a graph that names unknown
    handlers or models."""
    state = run.state
    last = state.end_seq - 1 if state.end_seq else state.seq
    upto = last if at is None else _arrival(run, at) if isinstance(at, str) else at
    if not 1 <= upto <= state.seq:
        raise InvalidInput("kernel.bad_fork", f"there is no event {upto}", fix=f"use 1 to {last}")
    if edits and all(node in state.context for node in edits):  # plain outputs of nodes, as other dialects take them
        edits = {"outputs": edits}
    if unknown := [key for key in edits if key not in _EDITS]:
        fix = 'use {"outputs": {node: value}, "operations": [...], "agents": {node: {"prompt": ..., "model": ...}}}'
        raise InvalidInput("kernel.bad_edit", f"edits have no part '{unknown[0]}'", fix=fix)
    outputs = cast("dict[str, Any]", edits.get("outputs") or {})
    if missing := [node for node in outputs if node not in state.context]:
        raise InvalidInput("kernel.bad_edit", f"node '{missing[0]}' has not run", fix="name one that has")
    operations = cast("list[dict[str, Any]]", edits.get("operations") or [])
    # Refuses an invalid graph
    plan = topologies.patched(state.definition, operations) if operations else run.plan
    if "agents" in edits:
        operations = [*operations, *agent_operations(plan, edits["agents"])]
        check(topologies.patched(state.definition, operations))
    given = {node: values.decode(values.encode(value)) for node, value in outputs.items()}
    return ForkPlan(upto, GraphForked(caller_id(source), upto, given, operations))


def _arrival(run: GraphRun, node: str) -> int:
    """The number of the event with which the node last started."""
    found = run.state.arrivals.get(node)
    if found is None:
        raise InvalidInput("kernel.bad_fork", f"node '{node}' has not begun", fix="name one that has, or an event")
    return found
