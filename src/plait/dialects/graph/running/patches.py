"""Patching the graph of a running run: all or nothing, and never so that a token loses its path.

A refused patch leaves the run as it is; the attempt is recorded.
"""

from __future__ import annotations

from plait.dialects.graph.definition.agent_patch import DENIED, agent_flaws
from plait.dialects.graph.definition.guardrails import WIDENS, widened
from plait.dialects.graph.definition.patch import ORPHAN, orphans
from plait.kernel.errors import Conflict, Flaw, Forbidden, InvalidInput, PlaitError
from plait.kernel.inputs import Patch

from .decision_builder import DecisionBuilder
from .events import PatchApplied, PatchRejected
from .graph_run import GraphRun
from .topologies import Topologies
from .topology import Topology


def patch(builder: DecisionBuilder, given: Patch, topologies: Topologies) -> None:
    run = builder.run
    try:
        if given.denied:
            raise Forbidden("graph.tool_not_allowed", f"agent `{given.agent}` may not patch", why=given.denied)
        new = topologies.patched(run.state.definition, given.operations)
        _check(run, new)
        if given.agent:
            _agents_patch(run, new, given.agent)
    except PlaitError as refusal:
        builder.record(PatchRejected(given.operations, given.by, refusal.code, refusal.text, list(refusal.flaws)))
        builder.decision.refusal = refusal
        return
    if bytes(new.definition) == bytes(run.state.definition):
        raise Conflict("graph.nothing_to_patch", "the graph is like that already", fix="look at the run again")
    builder.record(PatchApplied(run.state.revision + 1, given.operations, given.by, agent=given.agent))


def _check(run: GraphRun, new: Topology) -> None:
    live = live_nodes(run)
    _nodes_in_use(run, new, live)
    _no_orphans(run, new)
    _finished_sources(run, new, live)
    _no_wider(run, new)


def _agents_patch(run: GraphRun, new: Topology, agent: str) -> None:
    if found := [*agent_flaws(run.plan.ir, new.ir, agent, run.state.added_agents)]:
        raise Forbidden(
            DENIED,
            found[0].what,
            why="a patch by an agent can't widen what agents may do, nor touch approvals",
            fix=found[0].fix,
            flaws=[Flaw(note.code, note.pointer, note.message) for note in found],
        )


def live_nodes(run: GraphRun) -> set[str]:
    state = run.state
    return {token.node for token in state.tokens.values()} | {each.node for each in state.approvals.values()}


def _nodes_in_use(run: GraphRun, new: Topology, live: set[str]) -> None:
    """A node where a token waits or runs must stay as it is; where it goes on may change."""
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


def _no_orphans(run: GraphRun, new: Topology) -> None:
    for note in orphans(run.plan.ir, new.ir):
        raise InvalidInput(ORPHAN, note.what, why="the run has begun, so new entry nodes get no token", fix=note.fix)


def _no_wider(run: GraphRun, new: Topology) -> None:
    if found := [*widened(run.plan.ir, new.ir)]:
        raise Forbidden(
            WIDENS,
            found[0].what,
            why="a run can't be given more than it was started with",
            fix="start another run, or save a new version",
            flaws=[Flaw(note.code, note.pointer, note.message) for note in found],
        )


def _finished_sources(run: GraphRun, new: Topology, live: set[str]) -> None:
    """Refuses a new edge from a node that no token will ever reach again."""
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
