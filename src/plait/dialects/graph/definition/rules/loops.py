"""Rules about loops: their number of iterations, and their back-edges."""

from __future__ import annotations

from collections.abc import Iterator

from plait.definitions.flaws import Note
from plait.definitions.shape import shown
from plait.dialects.graph.definition.examined import Examined


def bad_loop(examined: Examined) -> Iterator[Note]:
    for id, routing in examined.routings.items():
        if routing.loop is None or _counts(routing.loop.max_iterations):
            continue
        yield Note(
            f"{routing.placed.pointer}/loop/max_iterations",
            f"`{id}`: max_iterations must be an integer of 1 or more, got {shown(routing.loop.max_iterations)}",
            "",
            "graph.bad_loop",
        )


def _counts(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def loop_target(examined: Examined) -> Iterator[Note]:
    for id, routing in examined.routings.items():
        back_to = None if routing.loop is None else routing.loop.loop_back_to
        if back_to is None or back_to not in examined.routings or back_to in examined.topology.upstream(id):
            continue
        yield Note(
            f"{routing.placed.pointer}/loop/loop_back_to",
            f"`{id}`: loop_back_to `{back_to}` is not `{id}` or upstream of it",
            "",
            "graph.loop_target",
        )
