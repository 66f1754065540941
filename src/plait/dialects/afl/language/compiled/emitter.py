"""The common members of all nodes of the compiled form: their type, id and place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plait.dialects.afl.language.links import Links
from plait.dialects.afl.language.source_file import SourceText
from plait.dialects.afl.language.tree import Node

from .node_ids import node_id

Json = dict[str, Any]


@dataclass(frozen=True)
class EmitOptions:
    locations: bool = True
    several: bool = False
    """Whether there are several files, so that a place names its file."""
    provenance: bool = False


@dataclass(frozen=True)
class Emitter:
    """Emits the nodes of one file."""

    source: SourceText
    links: Links
    options: EmitOptions

    def node(self, type: str, node: Node, path: str, /, **members: Any) -> Json:
        """Leaves out members that are None or empty."""
        found: Json = {"type": type, "id": node_id(path)}
        found.update((name, value) for name, value in members.items() if not _is_empty(value))
        if self.options.locations:
            found["location"] = self.location(node)
        return found

    def location(self, node: Node) -> Json:
        start, end = self.source.place(node.start), self.source.place(node.end)
        found: Json = {"line": start.line, "column": start.column, "endLine": end.line, "endColumn": end.column}
        if self.options.several:
            found["sourceId"] = self.source.name
        if self.options.provenance:
            found["provenance"] = {"file": self.source.name, "offset": node.start, "length": node.end - node.start}
        return found


def _is_empty(value: object) -> bool:
    return value is None or value == [] or value == {} or value == ""
