"""Short ways to write graphs in tests."""

from __future__ import annotations

import itertools
from typing import Any


def drawn(arrows: str, *nodes: dict[str, Any], **more: Any) -> dict[str, Any]:
    """`"A > B, A > C, B C > D"`: nodes are tasks unless they are given."""
    edges: list[dict[str, Any]] = []
    ids: dict[str, None] = {}
    for part in filter(None, (each.strip() for each in arrows.split(","))):
        groups = [side.split() for side in part.split(">")]
        ids |= dict.fromkeys(id for group in groups for id in group)
        for sources, targets in itertools.pairwise(groups):
            edges += [{"from": source, "to": target} for source in sources for target in targets]
    given = {node["id"]: node for node in nodes}
    tasks = [given.pop(id, {"id": id, "type": "task"}) for id in ids]
    return {"nodes": [*tasks, *given.values()], "edges": edges, **more}


def task(id: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "type": "task", **more}


def human(id: str, rejection_path: list[str] | None = None, **config: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"id": id, "type": "human", "human_config": config}
    return found if rejection_path is None else {**found, "rejection_path": rejection_path}


def rule(condition: Any, *next_nodes: str) -> dict[str, Any]:
    return {"condition": condition, "next_nodes": list(next_nodes)}


def branch(*rules: dict[str, Any], default: list[str] | None = None) -> dict[str, Any]:
    return {"type": "conditional", "rules": list(rules), "default": default or []}
