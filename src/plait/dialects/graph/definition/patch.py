"""Applying a patch to a definition: the result, and the nodes it adds without a dependency."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from plait.definitions import json_patch
from plait.definitions.flaws import Note
from plait.kernel.errors import InvalidInput

from .ir import Ir

ORPHAN = "graph.orphan_node"


def patch_definition(definition: Mapping[str, Any], operations: object) -> dict[str, Any]:
    """Applies all operations, or raises; `definition` itself is not changed. `/nodes/<id>` addresses a node."""
    found = json_patch.apply(definition, operations)
    if not isinstance(found, dict):
        raise InvalidInput(json_patch.CODE, "a patch would leave no object", fix="patch its fields")
    return cast("dict[str, Any]", found)


def orphans(before: Ir, after: Ir) -> Iterator[Note]:
    """Entries start once, with the run, so a node that is added later needs a dependency."""
    loops = [(id, node.loop) for id, node in after.nodes.items() if node.loop is not None]
    back_to = {loop.loop_back_to for id, loop in loops if loop.loop_back_to != id}
    for id in added(before, after):
        if not after.nodes[id].dependencies and id not in back_to:
            yield Note(f"/nodes/{id}", f"nothing leads to the added node `{id}`", "add an edge to it", ORPHAN)


def added(before: Ir, after: Ir) -> list[str]:
    return [id for id in after.nodes if id not in before.nodes]


def removed(before: Ir, after: Ir) -> list[str]:
    return [id for id in before.nodes if id not in after.nodes]


def added_agents(before: Ir, after: Ir) -> int:
    return sum(after.nodes[id].type == "agent" for id in added(before, after))
