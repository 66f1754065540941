"""The rule about size: section 10's limits."""

from __future__ import annotations

from collections.abc import Iterator

from plait.definitions.flaws import Note
from plait.dialects.graph.definition.examined import Examined
from plait.dialects.graph.definition.limits import MAX_EDGES, MAX_ITERATIONS, MAX_NODES
from plait.dialects.graph.definition.read import Draft

CODE = "graph.too_large"


def too_large(examined: Examined) -> Iterator[Note]:
    yield from oversized(examined.draft)
    for id, routing in examined.routings.items():
        most = None if routing.loop is None else routing.loop.max_iterations
        if isinstance(most, int) and most > MAX_ITERATIONS:
            what = f"`{id}`: max_iterations is {most:,}, limit {MAX_ITERATIONS:,}"
            yield Note(f"{routing.placed.pointer}/loop/max_iterations", what, "", CODE)


def oversized(draft: Draft) -> Iterator[Note]:
    """The flaw of what is too large to be checked any further."""
    if draft.written_nodes is not None and draft.written_nodes > MAX_NODES:
        what = f"the workflow has {draft.written_nodes:,} nodes, limit {MAX_NODES:,}"
        yield Note("/nodes", what, "move a part into a workflow of its own, and start it by a node of type `run`", CODE)
    if draft.written_edges > MAX_EDGES:
        what = f"the workflow has {draft.written_edges:,} edges, limit {MAX_EDGES:,}"
        yield Note("/edges", what, "move a part into a workflow of its own, and start it by a node of type `run`", CODE)
