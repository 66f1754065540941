"""Steps that wait for each other, or for themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from plait.definitions.flaws import Note
from plait.dialects.refs.definition.examined import Examined
from plait.dialects.refs.definition.order import settling_order


def cycles(examined: Examined) -> Iterator[Note]:
    """One note for each group of steps that can't start; the path shown is a shortest cycle from its first step."""
    left = examined.needs.keys() - set(settling_order(examined.needs))
    while left:
        first = next(name for name in examined.steps if name in left)
        way = _way_back(first, examined.needs)
        if way is None:  # it only depends on a cycle
            left.discard(first)
            continue
        shown = " -> ".join(way)
        at = examined.steps[first].pointer
        yield Note(at, f"Circular dependency: {shown}. Remove one ref.", "", "cycle")
        left -= set(way)


def _way_back(start: str, needs: Mapping[str, frozenset[str]]) -> list[str] | None:
    came_from: dict[str, str] = {}
    todo = [start]
    for name in todo:  # grows during the iteration
        for need in sorted(needs[name]):
            if need == start:
                way = [start]
                while name != start:
                    way.append(name)
                    name = came_from[name]
                return [start, *reversed(way[1:]), start]
            if need not in came_from:
                came_from[need] = name
                todo.append(need)
    return None
