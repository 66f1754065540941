"""Observers of agents at work: metrics and traces."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

import msgspec

from plait.kernel.ids import RunId

from .model import ModelReply


class TurnFacts(msgspec.Struct, frozen=True):
    run_id: RunId
    workflow: str
    node_id: str
    model: str
    turn: int
    attempt: int
    max_tokens: int
    temperature: float


class TurnWatch(Protocol):
    def replied(self, reply: ModelReply, cost_usd: float | None) -> None: ...


class AgentWatch(Protocol):
    def turn(self, facts: TurnFacts) -> AbstractContextManager[TurnWatch]:
        """Wraps one call of a model."""
        ...

    def tool_called(self, facts: TurnFacts, tool: str, status: str) -> None: ...


class NoWatch:
    @contextmanager
    def turn(self, facts: TurnFacts) -> Generator[TurnWatch]:
        yield self

    def replied(self, reply: ModelReply, cost_usd: float | None) -> None: ...

    def tool_called(self, facts: TurnFacts, tool: str, status: str) -> None: ...
