"""Where each node may send tokens: every route in a definition, with its place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from .read import Draft, Placed, PlacedEdge
from .source import Branch, Loop

Via = Literal["break_path", "timeout_path", "branch", "rejection_path", "edge", "loop_back_to"]


@dataclass(frozen=True, slots=True)
class Route:
    """A place in a definition that names a target node."""

    source: str
    target: str
    via: Via
    pointer: str
    field: str
    """The place as messages name it: `branch.default`."""


@dataclass(frozen=True, slots=True)
class Routing:
    """All routes of one node."""

    placed: Placed
    loop: Loop | None
    """None if there is none, or it is not enabled."""
    branch: Branch | None
    written: Sequence[Route]
    """Routes of its own loop, branch and rejection path, without the back-edge."""
    edges: Sequence[Route]
    """Static edges: of `edges`, `dependencies` of others, and its own `dependents`; in this order, each target once."""
    conditional: Sequence[PlacedEdge]

    @property
    def owned(self) -> bool:
        """Whether a branch or a given break path decides, so that edges don't count."""
        return self.branch is not None or (self.loop is not None and self.loop.break_path is not None)

    @property
    def routed_edges(self) -> Sequence[Route]:
        return () if self.owned else self.edges

    def forward(self) -> tuple[str, ...]:
        """The node's forward targets, each once."""
        found = [route.target for route in (*self.written, *self.routed_edges)]
        if self.branch is None:
            found += [placed.edge.to for placed in self.conditional]
        return tuple(dict.fromkeys(found))


def routings(draft: Draft) -> dict[str, Routing]:
    """Routings by node, in the order of the definition. Of nodes with the same id the first counts."""
    placed: dict[str, Placed] = {}
    for each in draft.nodes:
        placed.setdefault(each.node.id, each)
    edges = _edges_by_source(draft, placed)
    conditional = _conditional(draft)
    return {id: _routing(each, edges.get(id, ()), conditional.get(id, ())) for id, each in placed.items()}


def _routing(placed: Placed, edges: Sequence[Route], conditional: Sequence[PlacedEdge]) -> Routing:
    node = placed.node
    loop = node.loop if node.loop is not None and node.loop.enabled else None
    branch = node.branch if node.branch is not None and node.branch.enabled else None
    by_condition = {each.edge.to for each in conditional}
    return Routing(
        placed=placed,
        loop=loop,
        branch=branch,
        written=[*_written(placed, loop, branch)],
        edges=[each for each in edges if each.target not in by_condition or each.pointer.startswith("/edges/")],
        conditional=conditional,
    )


def _written(placed: Placed, loop: Loop | None, branch: Branch | None) -> Iterator[Route]:
    at = placed.pointer
    if loop is not None:
        yield from _targets(placed, loop.break_path or (), "break_path", f"{at}/loop/break_path", "break_path")
        yield from _targets(placed, loop.timeout_path or (), "timeout_path", f"{at}/loop/timeout_path", "timeout_path")
    if branch is not None:
        for index, rule in enumerate(branch.rules):
            place = f"{at}/branch/rules/{index}/next_nodes"
            yield from _targets(placed, rule.next_nodes, "branch", place, f"branch.rules[{index}].next_nodes")
        yield from _targets(placed, branch.default, "branch", f"{at}/branch/default", "branch.default")
        chosen = branch.available_next_nodes
        place = f"{at}/branch/available_next_nodes"
        yield from _targets(placed, chosen, "branch", place, "branch.available_next_nodes")
    rejected = placed.node.rejection_path or ()
    yield from _targets(placed, rejected, "rejection_path", f"{at}/rejection_path", "rejection_path")


def _targets(placed: Placed, targets: Iterable[str], via: Via, pointer: str, field: str) -> Iterator[Route]:
    for index, target in enumerate(targets):
        yield Route(placed.node.id, target, via, f"{pointer}/{index}", field)


def edge_routes(draft: Draft) -> Iterator[Route]:
    """Every unconditional edge, in any of its forms."""
    for placed in draft.edges:
        edge = placed.edge
        if edge.condition is None:
            yield Route(edge.from_, edge.to, "edge", placed.pointer, "edges")
    for placed in draft.nodes:
        node = placed.node
        for index, id in enumerate(node.dependencies):
            yield Route(id, node.id, "edge", f"{placed.pointer}/dependencies/{index}", "dependencies")
        for index, id in enumerate(node.dependents):
            yield Route(node.id, id, "edge", f"{placed.pointer}/dependents/{index}", "dependents")


def _edges_by_source(draft: Draft, placed: Mapping[str, Placed]) -> dict[str, list[Route]]:
    found: dict[tuple[str, str], Route] = {}
    for route in edge_routes(draft):
        if route.source in placed:
            found.setdefault((route.source, route.target), route)
    grouped: dict[str, list[Route]] = {}
    for route in found.values():
        grouped.setdefault(route.source, []).append(route)
    return grouped


def _conditional(draft: Draft) -> dict[str, list[PlacedEdge]]:
    grouped: dict[str, list[PlacedEdge]] = {}
    for placed in draft.edges:
        if placed.edge.condition is not None:
            grouped.setdefault(placed.edge.from_, []).append(placed)
    return grouped
