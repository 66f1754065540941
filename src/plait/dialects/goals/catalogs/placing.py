"""Finds the place of a new step in the order of its graph."""

from __future__ import annotations

from .cycles import Rise, dependencies, dependents
from .graph import Graph


def place(graph: Graph, step_id: str) -> None:
    """The step is in the graph, and closes no circle."""
    while not _placed(graph, step_id):
        graph.order.spread()


def _placed(graph: Graph, step_id: str) -> bool:
    order, ports = graph.order, graph.ports[step_id]
    last = order.last_of(dependencies(graph, ports))
    first = order.first_of(dependents(graph, step_id, ports))
    if last is None or first is None or last < first:
        return order.put([step_id], last, first)
    rise = Rise(graph, step_id, ports, first, last)
    moved = sorted(rise.whole(), key=order.places.__getitem__)
    return order.put([step_id, *moved], last, order.first_of(rise.left_out))
