"""The live positions of a run: tokens that are not consumed, and approvals that are open.

They are indexed by their loop iterations, so that a join can ask for those of its own round; and joins can watch a
position until it is empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

Loops = dict[str, int]
"""Loop node -> iteration; absent: 1."""
Group = tuple[tuple[str, int], ...]
Place = tuple[Group, int]
JoinKey = tuple[str, tuple[int, ...]]
"""A join, and its round."""

Masks = Callable[[int | None], int]

_NO_LOOPS: Group = ()


class Positions:
    def __init__(self) -> None:
        self._counts: dict[Group, dict[int, int]] = {_NO_LOOPS: {}}
        self._bits: dict[Group, int] = {_NO_LOOPS: 0}
        self._watchers: dict[Place, set[JoinKey]] = {}
        self.left: set[JoinKey] = set()
        """Joins that watched a position that is empty now."""

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

    def find(self, masks: Masks, around: tuple[str, ...], round: tuple[int, ...]) -> Place | None:
        """A position from which a token of this round may come. `around` has the loops that define the round. `masks`
        returns the nodes that count, given the loop in which a position is behind, or None if it is in this round."""
        for group, bits in self._bits.items():
            theirs = round_in(dict(group), around) if around else round
            if bits and theirs <= round and (found := bits & masks(behind(theirs, round))):
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
            if bits and round_in(dict(group), around) == round:
                yield group, bits


def round_in(loops: Loops, around: tuple[str, ...]) -> tuple[int, ...]:
    """The iterations of these loops, outermost first."""
    return tuple(loops.get(loop, 1) for loop in around)


def behind(theirs: tuple[int, ...], round: tuple[int, ...]) -> int | None:
    """The index of the outermost loop in which an earlier round is behind; None if the rounds are equal."""
    return next((index for index, (one, other) in enumerate(zip(theirs, round, strict=True)) if one != other), None)


def _group(loops: Loops) -> Group:
    return tuple(sorted(loops.items()))
