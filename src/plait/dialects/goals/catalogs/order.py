"""An order of the steps in which each comes after all that it depends on. Any such order will do.

It makes circles cheap to find: what a new step would close a circle with lies between the first step that depends on
it and the last that it depends on. Mostly that is nothing, and the step goes in between. Else the steps in that stretch
that depend on it move up behind it, and no others are touched.

    before   … U … x … D …       U depends on the new step S, S depends on D, x depends on U
    after    … D S U x …
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_GAP = 1 << 32
"""Between neighbours, so that others find a place there."""


class Order:
    def __init__(self) -> None:
        self.places: dict[str, int] = {}
        self._first = 0
        self._last = 0

    def copy(self) -> Order:
        found = Order()
        found.places = self.places.copy()
        found._first, found._last = self._first, self._last
        return found

    def remove(self, step_id: str) -> None:
        del self.places[step_id]

    def last_of(self, step_ids: Iterable[str]) -> int | None:
        return max((self.places[each] for each in step_ids), default=None)

    def first_of(self, step_ids: Iterable[str]) -> int | None:
        return min((self.places[each] for each in step_ids), default=None)

    def put(self, step_ids: Sequence[str], after: int | None, before: int | None) -> bool:
        """Gives them places in this order, between two others. False if there is no room."""
        count = len(step_ids)
        if before is None:
            start, gap = self._last, _GAP
        elif after is None:
            start, gap = self._first - _GAP * (count + 1), _GAP
        else:
            start, gap = after, (before - after) // (count + 1)
        if not gap:
            return False
        self.places.update((each, start + gap * number) for number, each in enumerate(step_ids, 1))
        self._first = min(self._first, start + gap)
        self._last = max(self._last, start + gap * count)
        return True

    def spread(self) -> None:
        """Makes room everywhere."""
        ordered = sorted(self.places, key=self.places.__getitem__)
        self._first, self._last = 0, 0
        self.places.clear()
        self.put(ordered, None, None)
