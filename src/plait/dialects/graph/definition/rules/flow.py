"""Rules about the whole graph: it has a start and an end, only loops form cycles, and no node waits in vain."""

from __future__ import annotations

from collections.abc import Iterator

from plait.definitions.flaws import Note
from plait.dialects.graph.definition.examined import Examined
from plait.dialects.graph.definition.routes import Route, Routing


def no_terminal(examined: Examined) -> Iterator[Note]:
    if not examined.routings or examined.draft.source.allow_endless:
        return
    if all(examined.topology.forward.values()):
        what = "workflow has no terminal nodes (would run forever)"
        yield Note("/nodes", what, "or set allow_endless", "graph.no_terminal")


def no_entry(examined: Examined) -> Iterator[Note]:
    if examined.routings and all(examined.topology.backward.values()):
        yield Note("/nodes", "no entry nodes: every node waits for another", "", "graph.no_entry")


def cycle(examined: Examined) -> Iterator[Note]:
    for path in examined.topology.cycles():
        what = f"cycle without loop: {' → '.join([*path, path[0]])}"
        pointer = examined.routings[path[-1]].placed.pointer
        yield Note(pointer, what, f"put `loop` on {path[-1]}", "graph.cycle")


def dead_dependency(examined: Examined) -> Iterator[Note]:
    """A written edge from a node that never takes it."""
    for id, routing in examined.routings.items():
        if not routing.owned:
            continue
        reached = {id, *examined.topology.forward[id]}
        for route in routing.edges:
            if route.target in examined.routings and route.target not in reached:
                yield _dead(route, routing)


def _dead(route: Route, routing: Routing) -> Note:
    targets = ", ".join(f"`{each}`" for each in routing.forward()) or "nothing"
    what = f"`{route.target}` depends on `{route.source}`, but `{route.source}` routes only to {targets}"
    return Note(route.pointer, what, "", "graph.dead_dependency")
