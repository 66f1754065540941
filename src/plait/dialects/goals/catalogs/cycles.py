"""Whether a new step would close a cycle: by its required and optional inputs, or by the goals of its flow.

A cycle that was not there before must contain the new step. By the order of the graph, the rest of it lies between
the first step that depends on the new one and the last that it depends on; if these come the other way round, the
common case, there is no cycle. Else two walks start from the new step, one along its dependencies and one along its
dependents, in turns and within that range; if either ends without meeting the other, there is none.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from plait.dialects.goals.steps.ports import Ports

from .graph import Graph


def find_cycle(graph: Graph, step_id: str, ports: Ports) -> tuple[str, ...] | None:
    """The cycle that the step would close, from it back to it along dependencies.
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
    """The shortest cycle; of several, the first by name."""
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


# -- walks over the graph ----------------------------------------------------------------------------------------------


def dependencies(graph: Graph, ports: Ports) -> set[str]:
    """The direct dependencies of a step."""
    providers = (step for each in ports.inputs for step in graph.providers(each.name))
    return {*providers, *(goal for goal in ports.goals if goal in graph.ports)}


def dependents(graph: Graph, step_id: str, ports: Ports) -> set[str]:
    """The direct dependents of a step."""
    consumers = (step for name in ports.outputs for step in graph.ties(name).consumers)
    return {*consumers, *graph.flows.get(step_id, ())}


class Walk:
    """A walk along the dependencies of a step, within a range of the order. Visits one step of the graph at a time,
    each once; each name is expanded once, however many steps share it."""

    def __init__(self, graph: Graph, step_id: str, ports: Ports, first: int, last: int) -> None:
        self.graph = graph
        self._first = first
        self._last = last
        self.seen: set[str] = set()
        self.latest: list[str] = []
        self.left_out: set[str] = set()
        """Steps met outside the range."""
        self._names: set[str] = set()
        self._todo: deque[str] = deque()
        self._take(self._beyond(step_id, ports))

    def __iter__(self) -> Iterator[None]:
        while True:
            yield
            self.latest = []
            if not self._todo:
                return
            step_id = self._todo.popleft()
            self._take(self._beyond(step_id, self.graph.ports[step_id]))

    def whole(self) -> set[str]:
        for _ in self:
            pass
        return self.seen

    def _take(self, steps: Iterable[str]) -> None:
        places, first, last = self.graph.order.places, self._first, self._last
        for each in steps:
            if each in self.seen:
                continue
            if first <= places[each] <= last:
                self.seen.add(each)
                self.latest.append(each)
                self._todo.append(each)
            else:
                self.left_out.add(each)

    def _beyond(self, step_id: str, ports: Ports) -> Iterator[str]:
        for each in ports.inputs:
            if each.name not in self._names:
                self._names.add(each.name)
                yield from self.graph.providers(each.name)
        yield from (goal for goal in ports.goals if goal in self.graph.ports)


class Rise(Walk):
    """A walk along the dependents of a step."""

    def _beyond(self, step_id: str, ports: Ports) -> Iterator[str]:
        for name in ports.outputs:
            if name not in self._names:
                self._names.add(name)
                yield from self.graph.ties(name).consumers
        yield from self.graph.flows.get(step_id, ())


# -- the position of a new step ----------------------------------------------------------------------------------------


def place(graph: Graph, step_id: str) -> None:
    """Gives a step of the graph, which closes no cycle, its position in the order."""
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
