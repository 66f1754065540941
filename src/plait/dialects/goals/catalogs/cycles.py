"""Whether one more step would close a circle: by its required and optional inputs, or by the goals of its flow.

A circle that was not there before must go through the new step. So two walks start from it, one to what it depends
on and one to what depends on it, by turns; either that ends without meeting the step proves that there is none. A
step that only adds to the rim of the graph, the common case, ends the shorter walk at once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from plait.dialects.goals.steps.ports import Ports

from .graph import Graph


def find_cycle(graph: Graph, step_id: str, ports: Ports) -> tuple[str, ...] | None:
    """The circle that the step would close, from it back to it along what each depends on.

    The graph must not hold the step (nor, for an update, its old version)."""
    if step_id in ports.goals:
        return (step_id, step_id)
    below = _Walk(graph, step_id, ports)
    above = _Rise(graph, step_id, ports)
    targets, origins = below.seen, above.seen
    for _ in zip(below, above, strict=False):
        if not targets.isdisjoint(above.latest) or not origins.isdisjoint(below.latest):
            return _path(graph, step_id, ports)
    return None


class _Walk:
    """One step of the graph after another, each once; each name is crossed once, however many hang on it."""

    def __init__(self, graph: Graph, step_id: str, ports: Ports) -> None:
        self.graph = graph
        self.seen: set[str] = set()
        self.latest: list[str] = []
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

    def _take(self, steps: Iterable[str]) -> None:
        for each in steps:
            if each not in self.seen:
                self.seen.add(each)
                self.latest.append(each)
                self._todo.append(each)

    def _beyond(self, step_id: str, ports: Ports) -> Iterator[str]:
        """What it depends on."""
        for each in ports.inputs:
            if each.name not in self._names:
                self._names.add(each.name)
                yield from self.graph.providers(each.name)
        yield from (goal for goal in ports.goals if goal in self.graph.ports)


class _Rise(_Walk):
    def _beyond(self, step_id: str, ports: Ports) -> Iterator[str]:
        """What depends on it."""
        for name in ports.outputs:
            if name not in self._names:
                self._names.add(name)
                yield from self.graph.ties(name).consumers
        yield from self.graph.flows.get(step_id, ())


def _path(graph: Graph, step_id: str, ports: Ports) -> tuple[str, ...]:
    """The shortest circle; of several, the first by name."""
    closing = set(_Rise(graph, step_id, ports).seen)
    came: dict[str, str] = {}
    todo = deque([step_id])
    while todo:
        here = todo.popleft()
        for each in _dependencies(graph, ports if here == step_id else graph.ports[here]):
            if each in came:
                continue
            came[each] = here
            if each in closing:
                return _traced(came, each, step_id)
            todo.append(each)
    raise AssertionError("a circle was found and lost again")


def _dependencies(graph: Graph, ports: Ports) -> list[str]:
    providers = (step for each in ports.inputs for step in graph.providers(each.name))
    return sorted({*providers, *(goal for goal in ports.goals if goal in graph.ports)})


def _traced(came: dict[str, str], last: str, step_id: str) -> tuple[str, ...]:
    path = [step_id, last]
    while path[-1] != step_id:
        path.append(came[path[-1]])
    return tuple(reversed(path))
