"""Every condition of a definition, compiled, by the pointer of its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from plait.definitions.flaws import Note

from .examined import Examined


@dataclass(frozen=True, slots=True)
class Place:
    """A condition where it is written."""

    condition: Any
    pointer: str
    in_policy: bool = False


class Conditions:
    def __init__(self, examined: Examined) -> None:
        self.compiled: Mapping[str, Any] = {place.pointer: place.condition for place in places(examined)}
        self.flaws: list[Note] = []


def places(examined: Examined) -> Iterator[Place]:
    for routing in examined.routings.values():
        at = routing.placed.pointer
        if routing.loop is not None:
            yield Place(routing.loop.condition, f"{at}/loop/condition")
        if routing.branch is not None:
            for index, rule in enumerate(routing.branch.rules):
                yield Place(rule.condition, f"{at}/branch/rules/{index}")
    for placed in examined.draft.edges:
        if placed.edge.condition is not None:
            yield Place(placed.edge.condition, f"{placed.pointer}/condition")
    for index, rule in enumerate(examined.draft.source.policy.rules):
        yield Place(rule.condition, f"/policy/rules/{index}", in_policy=True)
