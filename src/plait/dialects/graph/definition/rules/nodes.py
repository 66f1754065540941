"""Rules about nodes by themselves: their ids, their types, their config."""

from __future__ import annotations

from collections.abc import Iterator

from plait.definitions.flaws import Note
from plait.dialects.graph.definition.config_check import config_flaws, template_flaws
from plait.dialects.graph.definition.examined import Examined


def no_nodes(examined: Examined) -> Iterator[Note]:
    if examined.draft.written_nodes == 0:
        yield Note("/nodes", "a workflow needs at least one node", "", "graph.no_nodes")


def duplicate_id(examined: Examined) -> Iterator[Note]:
    seen: set[str] = set()
    for placed in examined.draft.nodes:
        if placed.node.id in seen:
            what = f"duplicate node id `{placed.node.id}`"
            yield Note(f"{placed.pointer}/id", what, "rename one", "graph.duplicate_id")
        seen.add(placed.node.id)


def unknown_type(examined: Examined) -> Iterator[Note]:
    for placed in examined.draft.nodes:
        written = placed.node.type
        if examined.types.get(written) is None:
            yield Note(
                f"{placed.pointer}/type",
                f"unknown node type `{written}`",
                _known_types(examined, written),
                "graph.unknown_type",
            )


def _known_types(examined: Examined, written: str) -> str:
    versions = examined.types.versions(written)
    if versions:
        name = examined.types.split(written)[0]
        return f"versions of `{name}`: {', '.join(versions)}"
    return f"known: {', '.join(examined.types.names())}"


def bad_config(examined: Examined) -> Iterator[Note]:
    for placed in examined.draft.nodes:
        type = examined.types.get(placed.node.type)
        if type is not None:
            yield from config_flaws(placed, type, examined.config(placed))
        if examined.types.split(placed.node.type)[0] == "agent" and placed.node.agent_config is None:
            what = f"agent `{placed.node.id}` has no model"
            yield Note(f"{placed.pointer}/agent_config", what, 'add {"model": …}', "graph.bad_config")
    yield from template_flaws(examined.draft.source.output, "/output", "output")
