"""The definition of a run of this dialect: a graph, or the name of a saved one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, overload

from plait.kernel.bundle import Reference

NAME = "graph"
"""The name of the dialect."""


@dataclass(frozen=True, slots=True)
class Graph:
    """A definition."""

    definition: str | Mapping[str, Any]
    """The graph as written, or `name@version-or-tag`."""

    def reference(self) -> Reference:
        """How JSON refers to this definition."""
        return Reference(NAME, self.definition, self.label)

    @property
    def label(self) -> str:
        """The name shown in lists of runs."""
        if isinstance(self.definition, str):
            return self.definition
        name = self.definition.get("name")
        return name if isinstance(name, str) and name else NAME


@overload
def graph(definition: str) -> Reference: ...
@overload
def graph(definition: Mapping[str, Any]) -> Graph: ...
def graph(definition: str | Mapping[str, Any]) -> Graph | Reference:
    """A graph of nodes: `await engine.start(graph({"nodes": [...], "edges": [...]}), input)`; or a saved one by its
    name, `graph("orders@main")`."""
    return Reference(NAME, definition, definition) if isinstance(definition, str) else Graph(definition)
