"""Whether one more step would close a circle: by its required and optional inputs, or by the goals of its flow.

A circle that was not there before must go through the new step. By the order of the graph, the rest of it lies between
the first step that depends on the new one and the last that it depends on; if they come the other way round, the common
case, there is none. Else two walks start from the new step, one to what it depends on and one to what depends on it, by
turns and within that stretch; either that ends without meeting the other proves that there is none.
"""

from __future__ import annotations

from collections import deque

from plait.dialects.goals.steps.ports import Ports

from .graph import Graph
from .walks import Rise, Walk, dependencies, dependents


def find_cycle(graph: Graph, step_id: str, ports: Ports) -> tuple[str, ...] | None:
    """The circle that the step would close, from it back to it along what each depends on.

    The graph must not hold the step (nor, for an update, its old version)."""
    if step_id in ports.goals:
        return (step_id, step_id)
    last = graph.order.last_of(dependencies(graph, ports))
    first = graph.order.first_of(dependents(graph, step_id, ports))
    if last is None or first is None or last < first:
        return None
    below = Walk(graph, step_id, ports, first, last)
    above = Rise(graph, step_id, ports, first, last)
    targets, origins = below.seen, above.seen
    for _ in zip(below, above, strict=False):
        if not targets.isdisjoint(above.latest) or not origins.isdisjoint(below.latest):
            return _path(graph, step_id, ports)
    return None


def _path(graph: Graph, step_id: str, ports: Ports) -> tuple[str, ...]:
    """The shortest circle; of several, the first by name."""
    closing = dependents(graph, step_id, ports)
    came: dict[str, str] = {}
    todo = deque([step_id])
    while todo:
        here = todo.popleft()
        for each in sorted(dependencies(graph, ports if here == step_id else graph.ports[here])):
            if each in came:
                continue
            came[each] = here
            if each in closing:
                return _traced(came, each, step_id)
            todo.append(each)
    raise AssertionError("a circle was found and lost again")


def _traced(came: dict[str, str], last: str, step_id: str) -> tuple[str, ...]:
    path = [step_id, last]
    while path[-1] != step_id:
        path.append(came[path[-1]])
    return tuple(reversed(path))
