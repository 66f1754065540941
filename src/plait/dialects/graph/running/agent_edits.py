"""Other settings of agents for a fork, as operations on its graph: to see what another prompt would have led to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import msgspec

from plait.kernel.errors import InvalidInput

from .topology import Topology

_PLACES = {"prompt": "config", "instructions": "config", "model": "agent_config"}
"""The part of a node that holds each setting."""


def agent_operations(plan: Topology, edits: Any) -> list[dict[str, Any]]:
    """`edits`: `{node: {"prompt"?, "instructions"?, "model"?}}`."""
    if not isinstance(edits, Mapping):
        raise _bad("`agents` is an object of nodes")
    nodes = cast("list[dict[str, Any]]", msgspec.json.decode(bytes(plan.definition))["nodes"])
    found: list[dict[str, Any]] = []
    for name, settings in cast("Mapping[str, Any]", edits).items():
        index = next((index for index, node in enumerate(nodes) if node.get("id") == name), None)
        if index is None or name not in plan.ir.nodes or plan.ir.nodes[name].type != "agent":
            raise _bad(f"the graph has no agent '{name}'")
        found += _of_node(nodes[index], f"/nodes/{index}", _settings(name, settings))
    return found


def _settings(name: str, given: Any) -> dict[str, str]:
    if not isinstance(given, Mapping) or not given:
        raise _bad(f"agent '{name}' has no other settings")
    settings = cast("Mapping[str, Any]", given)
    for key, value in settings.items():
        if key not in _PLACES:
            raise _bad(f"an agent has no setting '{key}'")
        if not isinstance(value, str):
            raise _bad(f"{key} of agent '{name}' is not text")
    return dict(settings)


def _of_node(node: Mapping[str, Any], pointer: str, settings: Mapping[str, str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    missing = {_PLACES[key] for key in settings} - set(node)
    found += [{"op": "add", "path": f"{pointer}/{part}", "value": {}} for part in sorted(missing)]
    for key, value in settings.items():
        found.append({"op": "add", "path": f"{pointer}/{_PLACES[key]}/{key}", "value": value})
    return found


def _bad(what: str) -> InvalidInput:
    fix = 'use {"agents": {node: {"prompt": …, "instructions": …, "model": …}}}'
    return InvalidInput("kernel.bad_edit", what, fix=fix)
