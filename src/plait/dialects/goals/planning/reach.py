"""Pass 1 of planning: which steps can be reached from the goals, and which of them could run.

A step could run ("is satisfiable") if each required input is in init or given by a step that could run: the least
fixed point, found by counting, for each step, the inputs still lacking. Only steps upstream of the goals are visited,
so the cost depends on these, not on the size of the catalog. A step with a gate lacks only what the gate needs until
the gate is open; one whose gate is closed never runs.
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from plait.dialects.goals.catalogs.graph import Graph
from plait.dialects.goals.steps.ports import Input

from .gates import UNDECIDED, Gates

Init = Container[str]
Names = frozenset[str]


def planned_by_init(each: Input, init: Init) -> bool:
    """Whether init replaces the providers of an input: only for `first`."""
    return each.collect == "first" and each.name in init


class Reach:
    """The steps upstream of the goals, and the inputs each lacks."""

    def __init__(self, graph: Graph, init: Init, goals: Iterable[str], gates: Gates = UNDECIDED) -> None:
        self._graph = graph
        self._init = init
        self._open = gates.open
        self.closed = gates.closed_inputs()
        self.lacks: dict[str, set[str]] = {}
        self._wanted: dict[str, list[tuple[str, Input]]] = {}
        self._meet(goals)
        self._settle()

    def could_run(self, step_id: str) -> bool:
        return not self.lacks[step_id]

    def split(self, name: str) -> tuple[list[str], list[str]]:
        """The providers of a name that could run, and the others."""
        providers = self._graph.providers(name)
        return (
            [each for each in providers if not self.lacks[each]],
            [each for each in providers if self.lacks[each]],
        )

    def blockers(self, step_id: str) -> list[str]:
        """Names in init whose absence the step requires."""
        return [
            each.name
            for each in self._graph.ports[step_id].inputs
            if each.required and each.collect == "none" and not each.gate and each.name in self._init
        ]

    def demands(self, step_id: str) -> Names:
        """The required inputs without which the step could not run: behind a gate that is not open, only the gate's."""
        inputs = self._graph.ports[step_id].inputs
        behind = step_id not in self._open and any(each.gate for each in inputs)
        return frozenset(each.name for each in inputs if each.required and (each.gate or not behind))

    def followed(self, step_id: str) -> list[Input]:
        """The inputs whose providers matter: behind a closed gate, only the gate's."""
        inputs = self._graph.ports[step_id].inputs
        return [each for each in inputs if each.gate or step_id not in self.closed]

    def _meet(self, goals: Iterable[str]) -> None:
        crossed: set[str] = set()
        todo = list(goals)
        while todo:
            step_id = todo.pop()
            if step_id in self.lacks:
                continue
            lacks = self.lacks[step_id] = set(self.closed.get(step_id, ()))
            demands = self.demands(step_id)
            for each in self.followed(step_id):
                if planned_by_init(each, self._init):
                    continue
                if each.name in demands and each.name not in lacks:
                    lacks.add(each.name)
                    self._wanted.setdefault(each.name, []).append((step_id, each))
                if each.name not in crossed:
                    crossed.add(each.name)
                    todo.extend(self._graph.providers(each.name))

    def _settle(self) -> None:
        """Removes from each step the inputs it does not lack, up to the fixed point."""
        given: dict[str, int] = {}
        for name in self._wanted:
            self._give(name, 0)
        ready = [step_id for step_id, lacks in self.lacks.items() if not lacks]
        while ready:
            step_id = ready.pop()
            for name in self._graph.ports[step_id].outputs:
                if name in self._wanted:
                    given[name] = given.get(name, 0) + 1
                    ready += self._give(name, given[name])

    def _give(self, name: str, count: int) -> list[str]:
        """Notes that `count` providers of a name could run; returns the steps that lack nothing as a result."""
        total = len(self._graph.providers(name))
        given = name in self._init
        if 1 < count < total:
            return []  # neither the first nor the last provider: this changes nothing
        done: list[str] = []
        for step_id, each in self._wanted[name]:
            lacks = self.lacks[step_id]
            if name in lacks and _settled(each, given, count, total):
                lacks.remove(name)
                if not lacks:
                    done.append(step_id)
        return done


def _settled(each: Input, given: bool, count: int, total: int) -> bool:
    match each.collect:
        case "none":
            return each.gate or not given
        case "all":
            return count == total and (given or total > 0)
        case _:
            return given or count > 0
