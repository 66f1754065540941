"""The graph of a catalog: for each name, its providers, its consumers and its type.

It is updated step by step: adding or removing one costs in proportion to the names it uses, whatever the size of the
rest. The entry of a name is a frozen value of sorted tuples, so that copying the graph is copying its index.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from plait.dialects.goals.steps.ports import Ports

Ids = tuple[str, ...]
K = TypeVar("K")

_GAP = 1 << 32
"""The gap between neighbouring positions, which leaves room for others."""


class Ties(msgspec.Struct, frozen=True, gc=False):
    """The providers and consumers of one name, and its type."""

    providers: Ids = ()
    consumers: Ids = ()
    type: str = ""
    typed: Ids = ()
    """The steps that declare the type; the others declare `any`."""


NO_TIES = Ties()


class Order:
    """An order of the steps in which each comes after all its dependencies. Any such order will do.

    It makes cycles cheap to find: the rest of a cycle through a new step lies between the first step that depends
    on it and the last that it depends on. Mostly that range is empty, and the step goes in between. Else the steps in
    that range that depend on it move up behind it, and no others are touched.

        before   … U … x … D …       U depends on the new step S, S depends on D, x depends on U
        after    … D S U x …
    """

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
        """Gives steps positions in this order, between two others. Returns False if there is no room."""
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
        """Spreads all positions evenly to make room."""
        ordered = sorted(self.places, key=self.places.__getitem__)
        self._first, self._last = 0, 0
        self.places.clear()
        self.put(ordered, None, None)


class Graph:
    def __init__(self) -> None:
        self.names: dict[str, Ties] = {}
        self.ports: dict[str, Ports] = {}
        self.flows: dict[str, Ids] = {}
        """Goal -> the flow steps that have it as their goal; the goal itself may not be registered yet."""
        self.order = Order()
        """Maintained by `cycles.place`; ignored when graphs are compared."""

    def copy(self) -> Graph:
        found = Graph()
        found.names = self.names.copy()
        found.ports = self.ports.copy()
        found.flows = self.flows.copy()
        found.order = self.order.copy()
        return found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return (self.names, self.ports, self.flows) == (other.names, other.ports, other.flows)

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def ties(self, name: str) -> Ties:
        return self.names.get(name, NO_TIES)

    def providers(self, name: str) -> Ids:
        return self.ties(name).providers

    def add(self, step_id: str, ports: Ports) -> None:
        self.ports[step_id] = ports
        for each in ports.inputs:
            ties = self.ties(each.name)
            self.names[each.name] = replace(ties, consumers=_with(ties.consumers, step_id))
        for name in ports.outputs:
            ties = self.ties(name)
            self.names[name] = replace(ties, providers=_with(ties.providers, step_id))
        for name, kind in ports.types:
            ties = self.names[name]
            self.names[name] = replace(ties, type=kind, typed=_with(ties.typed, step_id))
        for goal in ports.goals:
            self.flows[goal] = _with(self.flows.get(goal, ()), step_id)

    def remove(self, step_id: str) -> None:
        ports = self.ports.pop(step_id)
        self.order.remove(step_id)
        for name in (*(each.name for each in ports.inputs), *ports.outputs):
            old = self.names[name]
            typed = _without(old.typed, step_id)
            providers, consumers = _without(old.providers, step_id), _without(old.consumers, step_id)
            _set(self.names, name, Ties(providers, consumers, old.type if typed else "", typed), NO_TIES)
        for goal in ports.goals:
            _set(self.flows, goal, _without(self.flows[goal], step_id), ())


def _set(index: dict[str, K], key: str, value: K, nothing: K) -> None:
    if value == nothing:
        del index[key]
    else:
        index[key] = value


def _with(ids: Ids, step_id: str) -> Ids:
    at = bisect_left(ids, step_id)
    return ids if at < len(ids) and ids[at] == step_id else (*ids[:at], step_id, *ids[at:])


def _without(ids: Ids, step_id: str) -> Ids:
    at = bisect_left(ids, step_id)
    return (*ids[:at], *ids[at + 1 :]) if at < len(ids) and ids[at] == step_id else ids
