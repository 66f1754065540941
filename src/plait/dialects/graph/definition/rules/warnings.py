"""Warnings: what is allowed and probably not meant."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from plait.definitions.flaws import Note
from plait.dialects.graph.definition.examined import Examined
from plait.dialects.graph.definition.limits import WRITTEN_FANOUT
from plait.dialects.graph.definition.routes import Routing


def edges_overridden(examined: Examined) -> Iterator[Note]:
    for id, routing in examined.routings.items():
        if routing.owned and routing.edges:
            owner = "branch" if routing.branch is not None else "break_path"
            what = f"`{id}`: its edges are not taken, since its {owner} routes"
            yield Note(routing.edges[0].pointer, what, "remove them", "graph.edges_overridden")


def branch_unreachable(examined: Examined) -> Iterator[Note]:
    for id, routing in examined.routings.items():
        given = routing.loop is not None and routing.loop.break_path is not None
        if given and (routing.branch is not None or routing.conditional):
            what = f"`{id}`: its branch is never reached, since its loop has a break_path"
            pointer = routing.placed.pointer
            yield Note(
                f"{pointer}/branch" if routing.branch else pointer, what, "remove one", "graph.branch_unreachable"
            )


def fanout_over_limit(examined: Examined) -> Iterator[Note]:
    for id, routing in examined.routings.items():
        widest, limit = _widest(routing), _fanout(examined, routing)
        if widest > limit:
            what = f"`{id}`: sends up to {widest} tokens at once, max_fanout is {limit}"
            fix = "raise limits.max_fanout, or send to fewer nodes"
            yield Note(routing.placed.pointer, what, fix, "graph.fanout_over_limit")


def _fanout(examined: Examined, routing: Routing) -> int:
    own = routing.placed.node.capabilities.max_fanout
    whole = examined.draft.source.limits.max_fanout or WRITTEN_FANOUT
    return whole if own is None else min(own, whole)


def _widest(routing: Routing) -> int:
    """The most targets that one written emit can have; a chosen one is checked at run time."""
    ways = [len({*each}) for each in _ways(routing)]
    return max(ways, default=0)


def _ways(routing: Routing) -> Iterator[list[str]]:
    if routing.loop is not None:
        yield routing.loop.break_path or []
        yield routing.loop.timeout_path or []
    if routing.branch is not None:
        yield routing.branch.default
        yield from (rule.next_nodes for rule in routing.branch.rules)
    yield routing.placed.node.rejection_path or []
    yield [route.target for route in routing.routed_edges]


def loop_over_hops(examined: Examined) -> Iterator[Note]:
    for id, back_to, body in examined.loops():
        routing = examined.routings[id]
        most = routing.loop.max_iterations if routing.loop is not None else None
        limit = routing.placed.node.limits.max_hops or examined.draft.source.limits.max_hops
        if not isinstance(most, int):
            continue
        hops = most * _shortest(examined, back_to, id, body)
        if hops > limit:
            what = f"`{id}`: {most:,} iterations take {hops:,} hops, max_hops is {limit:,}"
            fix = "raise limits.max_hops, or lower max_iterations"
            yield Note(f"{routing.placed.pointer}/loop/max_iterations", what, fix, "graph.loop_over_hops")


def _shortest(examined: Examined, start: str, end: str, body: frozenset[str]) -> int:
    """The least number of hops in one iteration."""
    distance = {start: 1}
    frontier = [start]
    for id in frontier:  # grows during the iteration
        for target in examined.topology.forward[id]:
            if target in body and target not in distance:
                distance[target] = distance[id] + 1
                frontier.append(target)
    return distance[end]


def loops_overlap(examined: Examined) -> Iterator[Note]:
    loops = [(id, body) for id, _, body in examined.loops()]
    for (one, first), (other, second) in combinations(loops, 2):
        if first & second and not (first <= second or second <= first):
            what = f"the loops of `{one}` and `{other}` overlap, and neither holds the other"
            pointer = examined.routings[other].placed.pointer
            yield Note(f"{pointer}/loop", what, "let one hold the other", "graph.loops_overlap")
