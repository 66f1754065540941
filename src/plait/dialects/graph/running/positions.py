"""Where the live positions of a run are: tokens that are not consumed, and approvals that are open.

They are kept by the loop iterations that they are in, so that a join can ask for those of its own round; and whoever
waits for a place to become empty is told.
"""

from __future__ import annotations

from collections.abc import Iterator

Loops = dict[str, int]
"""Loop node -> iteration; absent: 1."""
Group = tuple[tuple[str, int], ...]
Place = tuple[Group, int]
JoinKey = tuple[str, tuple[int, ...]]
"""A join, and its round."""

_NO_LOOPS: Group = ()


class Positions:
    def __init__(self) -> None:
        self._counts: dict[Group, dict[int, int]] = {_NO_LOOPS: {}}
        self._bits: dict[Group, int] = {_NO_LOOPS: 0}
        self._watchers: dict[Place, set[JoinKey]] = {}
        self.left: set[JoinKey] = set()
        """Joins that watched a place that is empty now."""

    def add(self, place: int, loops: Loops) -> None:
        group = _group(loops) if loops else _NO_LOOPS
        counts = self._counts.setdefault(group, {})
        before = counts.get(place, 0)
        counts[place] = before + 1
        if not before:
            self._bits[group] = self._bits.get(group, 0) | 1 << place

    def remove(self, place: int, loops: Loops) -> None:
        group = _group(loops) if loops else _NO_LOOPS
        counts = self._counts[group]
        left = counts[place] - 1
        if left:
            counts[place] = left
            return
        del counts[place]
        self._bits[group] ^= 1 << place
        if self._watchers and (watching := self._watchers.pop((group, place), None)):
            self.left |= watching

    def find(self, nodes: int, around: tuple[str, ...], round: tuple[int, ...]) -> Place | None:
        """A position of this round at one of these nodes. `around`: the loops that make up the round."""
        for group, bits in self._in_round(around, round):
            if found := bits & nodes:
                return group, (found & -found).bit_length() - 1
        return None

    def count(self, place: int, around: tuple[str, ...], round: tuple[int, ...]) -> int:
        return sum(self._counts[group].get(place, 0) for group, _ in self._in_round(around, round))

    def watch(self, place: Place, join: JoinKey) -> None:
        self._watchers.setdefault(place, set()).add(join)

    def _in_round(self, around: tuple[str, ...], round: tuple[int, ...]) -> Iterator[tuple[Group, int]]:
        if not around:
            yield from self._bits.items()
            return
        for group, bits in self._bits.items():
            loops = dict(group)
            if bits and tuple(loops.get(loop, 1) for loop in around) == round:
                yield group, bits


def _group(loops: Loops) -> Group:
    return tuple(sorted(loops.items()))
