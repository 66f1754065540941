"""Rules about references to other nodes: the nodes must exist, and differ from the referrer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from plait.definitions.flaws import Note
from plait.dialects.graph.definition.examined import Examined
from plait.dialects.graph.definition.routes import Route, Routing, edge_routes
from plait.dialects.graph.definition.templates import nodes_in
from plait.dialects.graph.definition.transforms import templated


def unknown_target(examined: Examined) -> Iterator[Note]:
    for route in _named(examined):
        if route.target not in examined.routings:
            yield _unknown(examined, _place(route, route.source), route.target, route.pointer, route.source)
    for route in edge_routes(examined.draft):
        for id, end in ((route.source, "from"), (route.target, "to")):
            if id not in examined.routings:
                other = route.source if end == "to" else route.target
                yield _unknown(examined, _edge_place(route), id, _edge_pointer(route, end), other)
    yield from _unknown_ends(examined)
    yield from _unknown_permissions(examined)
    yield from _unknown_in_templates(examined)


def _named(examined: Examined) -> Iterator[Route]:
    """Every node named in a node's own paths, including its loop's back-edge."""
    for id, routing in examined.routings.items():
        yield from routing.written
        if routing.loop is not None and routing.loop.loop_back_to is not None:
            pointer = f"{routing.placed.pointer}/loop/loop_back_to"
            yield Route(id, routing.loop.loop_back_to, "loop_back_to", pointer, "loop_back_to")


def _unknown_ends(examined: Examined) -> Iterator[Note]:
    """Unknown ends of conditional edges."""
    for placed in examined.draft.edges:
        if placed.edge.condition is None:
            continue
        for id, end in ((placed.edge.from_, "from"), (placed.edge.to, "to")):
            if id not in examined.routings:
                place = f"edge `{placed.edge.from_}` → `{placed.edge.to}`"
                yield _unknown(examined, place, id, f"{placed.pointer}/{end}")


def _unknown_permissions(examined: Examined) -> Iterator[Note]:
    """A guardrail that names an unknown node would seem to guard something."""
    for id, routing in examined.routings.items():
        for index, target in enumerate(routing.placed.node.capabilities.can_emit_to or ()):
            if target not in examined.routings:
                pointer = f"{routing.placed.pointer}/capabilities/can_emit_to/{index}"
                yield _unknown(examined, f"`{id}`.capabilities.can_emit_to", target, pointer)
    transitions = examined.draft.source.policy.allowed_transitions or {}
    for source, targets in transitions.items():
        for target in (source, *targets):
            if target not in examined.routings:
                yield _unknown(examined, "policy.allowed_transitions", target, "/policy/allowed_transitions")


def _unknown_in_templates(examined: Examined) -> Iterator[Note]:
    configs = [
        (_templated(examined, routing), f"{routing.placed.pointer}/config", f"`{id}`.config")
        for id, routing in examined.routings.items()
    ]
    for value, pointer, place in (*configs, (examined.draft.source.output, "/output", "output")):
        for id in sorted(nodes_in(value)):
            if id not in examined.routings:
                yield _unknown(examined, place, id, pointer)


def _templated(examined: Examined, routing: Routing) -> Any:
    type, _ = examined.types.split(routing.placed.node.type)
    return templated(type, examined.config(routing.placed) or {})


def _place(route: Route, owner: str) -> str:
    return f"`{owner}`.{route.field}"


def _edge_place(route: Route) -> str:
    match route.field:
        case "dependencies":
            return _place(route, route.target)
        case "dependents":
            return _place(route, route.source)
        case _:
            return f"edge `{route.source}` → `{route.target}`"


def _edge_pointer(route: Route, end: str) -> str:
    return f"{route.pointer}/{end}" if route.field == "edges" else route.pointer


def _unknown(examined: Examined, place: str, target: str, pointer: str, owner: str = "") -> Note:
    """`owner` is the node with the reference, which is not suggested to itself."""
    found = examined.suggestions.nearest(target, [id for id in examined.routings if id != owner])
    fix = f"nearest: `{found}`" if found is not None else "add it, or remove the name"
    return Note(pointer, f"{place} names non-existent node `{target}`", fix, "graph.unknown_target")


def self_edge(examined: Examined) -> Iterator[Note]:
    routes = [*edge_routes(examined.draft)]
    for routing in examined.routings.values():
        routes += routing.written
    for route in routes:
        if route.source == route.target and route.source in examined.routings:
            yield _self_edge(route.source, route.pointer)
    for placed in examined.draft.edges:
        if placed.edge.condition is not None and placed.edge.from_ == placed.edge.to:
            yield _self_edge(placed.edge.to, placed.pointer)


def _self_edge(id: str, pointer: str) -> Note:
    return Note(pointer, f"self edge on `{id}`", "use `loop`", "graph.self_edge")
