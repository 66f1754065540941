"""Walks over the graph of a catalog, from a step to all that it depends on, or to all that depends on it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from plait.dialects.goals.steps.ports import Ports

from .graph import Graph


def dependencies(graph: Graph, ports: Ports) -> set[str]:
    """The steps that a step needs itself."""
    providers = (step for each in ports.inputs for step in graph.providers(each.name))
    return {*providers, *(goal for goal in ports.goals if goal in graph.ports)}


def dependents(graph: Graph, step_id: str, ports: Ports) -> set[str]:
    """The steps that need a step themselves."""
    consumers = (step for name in ports.outputs for step in graph.ties(name).consumers)
    return {*consumers, *graph.flows.get(step_id, ())}


class Walk:
    """To what a step depends on, within a stretch of the order. One step of the graph after another, each once; each
    name is crossed once, however many hang on it."""

    def __init__(self, graph: Graph, step_id: str, ports: Ports, first: int, last: int) -> None:
        self.graph = graph
        self._first = first
        self._last = last
        self.seen: set[str] = set()
        self.latest: list[str] = []
        self.left_out: set[str] = set()
        """Those outside of the stretch that were met."""
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
    """To what depends on a step."""

    def _beyond(self, step_id: str, ports: Ports) -> Iterator[str]:
        for name in ports.outputs:
            if name not in self._names:
                self._names.add(name)
                yield from self.graph.ties(name).consumers
        yield from self.graph.flows.get(step_id, ())
