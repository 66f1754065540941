"""Rules about branches, and about nodes that only choose."""

from __future__ import annotations

from collections.abc import Iterator

from plait.definitions.flaws import Note
from plait.dialects.graph.definition.examined import Examined
from plait.dialects.graph.definition.routes import Routing

_NEEDED = "branch must have rules or default (`agent_driven`: available_next_nodes) and no conditional edges"


def bad_branch(examined: Examined) -> Iterator[Note]:
    for id, routing in examined.routings.items():
        if _is_decision(examined, routing) and not (routing.branch or routing.conditional):
            what = f"`{id}`: type `decision` needs a branch or conditional edges"
            yield Note(routing.placed.pointer, what, "", "graph.bad_branch")
        elif routing.branch is not None and not _can_choose(routing):
            yield Note(f"{routing.placed.pointer}/branch", f"`{id}`: {_NEEDED}", "", "graph.bad_branch")


def _is_decision(examined: Examined, routing: Routing) -> bool:
    return examined.types.split(routing.placed.node.type)[0] == "decision"


def _can_choose(routing: Routing) -> bool:
    branch = routing.branch
    if branch is None or routing.conditional:
        return False
    if branch.type == "agent_driven":
        return bool(branch.available_next_nodes) and not branch.rules
    return bool(branch.rules or branch.default) and not branch.available_next_nodes
