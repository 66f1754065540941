"""The forward graph: its edges, its order, its cycles, and the bodies of its loops.

Names that are not nodes are left out: they are flaws of their own. Nothing here recurses, since a graph may be a chain
of a thousand nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

Forward = Mapping[str, Sequence[str]]


class Topology:
    def __init__(self, forward: Forward) -> None:
        """`forward` has the targets of every node, in the order of the definition."""
        self.forward: Forward = {id: [each for each in targets if each in forward] for id, targets in forward.items()}

    @cached_property
    def backward(self) -> Mapping[str, Sequence[str]]:
        """The nodes that have this one as forward target."""
        found: dict[str, list[str]] = {id: [] for id in self.forward}
        for id, targets in self.forward.items():
            for target in targets:
                found[target].append(id)
        return found

    @cached_property
    def order(self) -> Sequence[str]:
        """Each node after its dependencies, else in the order of the definition; without those on and behind cycles."""
        waiting = {id: len(before) for id, before in self.backward.items()}
        ready = [id for id, count in waiting.items() if count == 0]
        for id in ready:  # grows during the iteration
            for target in self.forward[id]:
                waiting[target] -= 1
                if waiting[target] == 0:
                    ready.append(target)
        return ready

    def upstream(self, id: str) -> frozenset[str]:
        """The nodes from which a forward path leads to this one, and the node itself."""
        return _reached([id], self.backward)

    def downstream(self, id: str) -> frozenset[str]:
        """The nodes to which a forward path leads from this one, and the node itself."""
        return _reached([id], self.forward)

    def body(self, loop: str, back_to: str) -> frozenset[str]:
        """The nodes on forward paths from `back_to` to the loop's node, both included."""
        return self.downstream(back_to) & self.upstream(loop)

    def cycles(self) -> list[list[str]]:
        """One cycle of each strongly connected component, starting with its first node."""
        ordered = set(self.order)
        left = [id for id in self.forward if id not in ordered]
        found: list[list[str]] = []
        seen: set[str] = set()
        for id in left:
            if id in seen:
                continue
            path = self._way_back(id)
            if path:
                found.append(path)
                seen |= self.downstream(id) & self.upstream(id)
        return found

    def _way_back(self, start: str) -> list[str]:
        """The shortest path from a node to itself; empty if there is none."""
        came_from: dict[str, str] = {}
        frontier = [start]
        for id in frontier:  # grows during the iteration
            for target in self.forward[id]:
                if target == start:
                    return _path(came_from, start, id)
                if target not in came_from:
                    came_from[target] = id
                    frontier.append(target)
        return []


def _path(came_from: Mapping[str, str], start: str, last: str) -> list[str]:
    found = [last]
    while found[-1] != start:
        found.append(came_from[found[-1]])
    return found[::-1]


def _reached(start: Iterable[str], links: Mapping[str, Sequence[str]]) -> frozenset[str]:
    found = list(start)
    seen = set(found)
    for id in found:  # grows during the iteration
        for target in links[id]:
            if target not in seen:
                seen.add(target)
                found.append(target)
    return frozenset(seen)
