"""Changing the graph of a run while it runs: all or nothing, and never so that a token loses its way.

What is refused leaves the run as it is; that somebody tried is recorded.
"""

from __future__ import annotations

from plait.kernel.errors import Conflict, InvalidInput, PlaitError
from plait.kernel.inputs import Patch

from .decision_builder import DecisionBuilder
from .events import PatchApplied, PatchRejected
from .graph_run import GraphRun
from .topologies import Topologies
from .topology import Topology
from .widening import widened


def patch(builder: DecisionBuilder, given: Patch, topologies: Topologies) -> None:
    run = builder.run
    try:
        new = topologies.patched(run.state.definition, given.operations)
        _check(run, new)
    except PlaitError as refusal:
        builder.record(PatchRejected(given.operations, given.by, refusal.code, refusal.text))
        builder.decision.refusal = refusal
        return
    if bytes(new.definition) == bytes(run.state.definition):
        raise Conflict("graph.nothing_to_patch", "the graph is like that already", fix="look at the run again")
    builder.record(PatchApplied(run.state.revision + 1, given.operations, given.by))


def _check(run: GraphRun, new: Topology) -> None:
    live = live_nodes(run)
    for check in (_nodes_in_use, _orphans, _finished_sources):
        check(run, new, live)
    if why := widened(run.plan.ir, new.ir):
        raise why


def live_nodes(run: GraphRun) -> set[str]:
    state = run.state
    return {token.node for token in state.tokens.values()} | {each.node for each in state.approvals.values()}


def _nodes_in_use(run: GraphRun, new: Topology, live: set[str]) -> None:
    """What a token waits for or runs in must stay as it is; where it goes on may change."""
    for node in sorted(live):
        before, after = run.plan.nodes[node].ir, new.ir.nodes.get(node)
        if after is None:
            raise _in_use(node, "removes")
        if after.type != before.type:
            raise _in_use(node, "changes the type of")
        if (after.wait_for_all, set(after.dependencies)) != (before.wait_for_all, set(before.dependencies)):
            raise _in_use(node, "changes what leads to")


def _in_use(node: str, does: str) -> Conflict:
    return Conflict(
        "graph.node_in_use",
        f"the patch {does} `{node}`, where the run is now",
        why="its tokens or approvals would be lost",
        fix="wait until it is done, or change what comes after it",
    )


def _orphans(run: GraphRun, new: Topology, live: set[str]) -> None:
    for node in new.ir.entry_nodes:
        if node not in run.plan.nodes:
            raise InvalidInput(
                "graph.orphan_node",
                f"nothing leads to the new node `{node}`",
                why="the run has begun, so new entry nodes get no token",
                fix="add an edge to it",
            )


def _finished_sources(run: GraphRun, new: Topology, live: set[str]) -> None:
    """A new way from where no token will ever be again."""
    reachable = new.reachable_from(live)
    for node in new.ir.nodes.values():
        before = run.plan.ir.nodes.get(node.id)
        old = set(before.dependents) if before is not None else set[str]()
        added = [target for target in node.dependents if target not in old]
        if added and node.id not in reachable:
            raise Conflict(
                "graph.source_finished",
                f"the patch adds a way from `{node.id}` to `{added[0]}`, but no token can come to `{node.id}` any more",
                fix="begin the new way at a node that still runs",
            )
