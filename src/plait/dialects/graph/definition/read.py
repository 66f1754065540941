"""Parses JSON into a `Source`, noting every flaw of its shape: each node and each edge is parsed by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import msgspec

from plait.definitions.flaws import Note
from plait.definitions.shape import ShapeReader, shown

from .limits import MAX_EDGES, MAX_NODES
from .source import Edge, Node, Source

BAD_SHAPE = "graph.bad_shape"
Found = TypeVar("Found")
_OTHER_WORDS = {"depends_on": "dependencies", "needs": "dependencies", "next": "dependents"}


@dataclass(frozen=True, slots=True)
class Placed:
    """A node that could be parsed, and its place in the definition."""

    node: Node
    pointer: str


@dataclass(frozen=True, slots=True)
class PlacedEdge:
    edge: Edge
    pointer: str


@dataclass(frozen=True, slots=True)
class Draft:
    """A definition as far as it could be parsed."""

    source: Source
    """The definition with the nodes that could be parsed."""
    nodes: Sequence[Placed]
    edges: Sequence[PlacedEdge]
    written_nodes: int | None
    """The number of nodes, parsable or not; None if `nodes` is not a list."""
    written_edges: int
    notes: Sequence[Note]


def read(definition: object) -> Draft:
    """Total: any input yields a draft, with its flaws noted. What exceeds the limits is not parsed."""
    reader = ShapeReader(BAD_SHAPE, _OTHER_WORDS)
    data = _top(definition, reader)
    written_nodes, written_edges = data.get("nodes"), data.get("edges")
    nodes = _read(_node, _items(written_nodes)[:MAX_NODES], reader)
    edges = _read(_edge, _items(written_edges)[:MAX_EDGES], reader)
    if written_edges is not None and not isinstance(written_edges, list | tuple):
        reader.note("/edges", f"edges must be an array, got {shown(written_edges)}")
    rest = {key: value for key, value in data.items() if key not in ("nodes", "edges")}
    source = reader.object(Source, {**rest, "nodes": ()}, "", "")
    return Draft(
        source=msgspec.structs.replace(
            source, nodes=[each.node for each in nodes], edges=[each.edge for each in edges]
        ),
        nodes=nodes,
        edges=edges,
        written_nodes=_count(written_nodes, reader),
        written_edges=len(_items(written_edges)),
        notes=reader.notes,
    )


def _top(definition: object, reader: ShapeReader) -> Mapping[str, Any]:
    if isinstance(definition, dict):
        return cast("dict[str, Any]", definition)
    reader.note("", f"a workflow must be an object, got {shown(definition)}")
    return {}


def _items(written: Any) -> Sequence[Any]:
    return cast("Sequence[Any]", written) if isinstance(written, list | tuple) else ()


def _count(written: Any, reader: ShapeReader) -> int | None:
    if written is None or isinstance(written, list | tuple):
        return len(_items(written))
    reader.note("/nodes", f"nodes must be an array, got {shown(written)}")
    return None


def _read(
    one: Callable[[Any, int, ShapeReader], Found | None], written: Sequence[Any], reader: ShapeReader
) -> list[Found]:
    found = (one(each, index, reader) for index, each in enumerate(written) if not reader.full)
    return [each for each in found if each is not None]


def _node(written: Any, index: int, reader: ShapeReader) -> Placed | None:
    pointer = f"/nodes/{index}"
    if not isinstance(written, dict):
        reader.note(pointer, f"node {index} must be an object, got {shown(written)}")
        return None
    data = dict(cast("dict[str, Any]", written))
    if "node_id" in data and "id" not in data:  # an alias
        data["id"] = data.pop("node_id")
    id = data.get("id")
    owner = f"node `{id}`: " if isinstance(id, str) and len(id) <= 64 else f"node {index}: "
    node = reader.object(Node, data, pointer, owner)
    return None if node is None else Placed(node, pointer)


def _edge(written: Any, index: int, reader: ShapeReader) -> PlacedEdge | None:
    pointer = f"/edges/{index}"
    if not isinstance(written, dict):
        reader.note(pointer, f"edge {index} must be an object, got {shown(written)}")
        return None
    edge = reader.object(Edge, cast("dict[str, Any]", written), pointer, f"edge {index}: ")
    return None if edge is None else PlacedEdge(edge, pointer)
