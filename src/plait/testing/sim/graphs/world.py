"""The world outside the engine: the effects of nodes, with the luck of the scenario, and a ledger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plait.dialects.code.errors import CriticalError
from plait.dialects.graph.definition.compile import compile_graph
from plait.dialects.graph.handlers import Handler, NodeContext
from plait.dialects.graph.running.topologies import Topologies
from plait.registry.engine import Engine
from plait.testing.clock import VirtualClock
from plait.testing.sim.whisper import whisper

from .drawing import BROKEN, UNDO, WORK, Luck
from .scenario import FORK, GraphScenario


class BadLuck(Exception):
    """The next attempt may have more luck."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One attempt of a node's work, or of its compensator."""

    run_id: str
    node: str
    token: str
    attempt: int
    key: str
    undo: bool


_topologies = Topologies(compile_graph)
"""Shared by all engines of this process: compiled graphs never change."""


class GraphWorld:
    def __init__(self, scenario: GraphScenario) -> None:
        self.ledger: list[Entry] = []
        self.repaired: set[str] = set()
        """Runs whose broken node succeeds now."""
        self._lucks = {root.id: root.lucks for root in scenario.roots}
        self.definitions = (Handler(WORK, self._work), Handler(UNDO, self._undo), whisper)
        self.clock: VirtualClock | None = None

    def furnish(self, engine: Engine) -> None:
        """Shares compiled graphs with an engine before it opens, so that it need not compile them again."""
        engine.graph.topologies = _topologies

    async def _work(self, payload: Any, ctx: NodeContext) -> dict[str, str]:
        self._note(ctx, undo=False)
        luck = self._luck(ctx)
        if luck.takes and self.clock is not None:
            await self.clock.sleep(luck.takes)
        if ctx.node_id == BROKEN and ctx.run_id not in self.repaired:
            raise CriticalError("it is broken")
        if ctx.attempt <= luck.fails and ctx.node_id != BROKEN:
            raise BadLuck("not yet")
        return {"done": ctx.node_id}

    async def _undo(self, payload: Any, ctx: NodeContext) -> None:
        self._note(ctx, undo=True)
        if ctx.attempt <= self._luck(ctx).undo_fails:
            raise BadLuck("not undone yet")

    def _luck(self, ctx: NodeContext) -> Luck:
        return self._lucks[ctx.run_id.removesuffix(FORK)].get(ctx.node_id, Luck())

    def _note(self, ctx: NodeContext, *, undo: bool) -> None:
        entry = Entry(ctx.run_id, ctx.node_id, ctx.token_id, ctx.attempt, ctx.idempotency_key, undo)
        self.ledger.append(entry)
