"""Builders of small graphs."""

from __future__ import annotations

from typing import Any

from plait.dialects.graph.definition.compile import check_graph

Json = dict[str, Any]


def task(id: str, **more: Any) -> Json:
    return {"id": id, "type": "task", **more}


def graph(*nodes: Json, edges: str = "", **more: Any) -> Json:
    """`edges`: `A-B B-C`."""
    pairs = [each.split("-") for each in edges.split()]
    return {"nodes": [*nodes], "edges": [{"from": source, "to": target} for source, target in pairs], **more}


def loop(**more: Any) -> Json:
    return {"condition": "output.again", "max_iterations": 3, **more}


def flaws(definition: object) -> list[tuple[str, str, str]]:
    """Code, pointer and message of each."""
    return [(note.code, note.pointer, note.message) for note in check_graph(definition).flaws]


def warnings(definition: object) -> list[tuple[str, str]]:
    checked = check_graph(definition)
    assert not checked.flaws
    return [(note.code, note.message) for note in checked.warnings]
