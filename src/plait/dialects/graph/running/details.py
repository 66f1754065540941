"""What only this dialect shows of a run: its counter, tokens and joins, its path, and the changes of its graph.

These are the `details` of a run's view. They are part of the OpenAPI document, from which the web UI gets its types.
"""

from __future__ import annotations

from typing import Any

import msgspec

from plait.kernel.ids import TaskToken

from .graph_run import GraphRun

_PATH_SHOWN = 1_000
"""The number of steps of the path that are shown; a long loop has more."""


class PathView(msgspec.Struct, frozen=True):
    node: str
    from_: str = msgspec.field(name="from")
    """Empty at the entry."""
    hop: int
    iteration: int
    token: str


class TokenView(msgspec.Struct, frozen=True):
    id: str
    node: str
    from_: str = msgspec.field(name="from")
    """Empty at the entry."""
    hop: int
    loops: dict[str, int]
    """Iterations of the loops around it, except those in their first."""
    parked: bool
    """Whether it waits at a join that has not fired."""


class JoinView(msgspec.Struct, frozen=True):
    node: str
    has: list[str]
    waits_for: list[str]
    tokens: int
    """The number of tokens parked at it."""


class GraphDetails(msgspec.Struct, frozen=True):
    counter: int
    """The number of tokens in flight."""
    revision: int
    wf_version: str
    path: list[PathView]
    """The last steps, in order."""
    tokens: list[TokenView]
    joins: list[JoinView]
    dead_letters: list[TaskToken]
    patches: list[int]
    """The numbers of the events that changed the graph."""


def run_details(run: GraphRun) -> dict[str, Any]:
    state = run.state
    found = GraphDetails(
        counter=state.counter,
        revision=state.revision,
        wf_version=state.wf_version,
        path=[
            PathView(step.node, step.origin, step.hop, step.iteration, step.token) for step in state.path[-_PATH_SHOWN:]
        ],
        tokens=[
            TokenView(token.id, token.node, token.origin, token.hop, token.loops, token.parked)
            for token in state.tokens.values()
        ],
        joins=[
            JoinView(node, [*wait.arrived], [*wait.missing], sum(map(len, wait.arrived.values())))
            for (node, _), wait in run.joins.items()
        ],
        dead_letters=[execution.task for execution in run.dead()],
        patches=state.patches,
    )
    return msgspec.to_builtins(found)
