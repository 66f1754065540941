"""What operations and scopes may use of the replay that runs them."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from typing import Any, ClassVar, Protocol

import msgspec
from msgspec import Raw

from plait.kernel.effects import Effect
from plait.kernel.errors import ErrorInfo
from plait.kernel.events import Event
from plait.kernel.ids import Millis, RunId, TaskToken
from plait.kernel.machine import RunInfo
from plait.kernel.values import ABSENT

from .definition import Workflow
from .history import History
from .op_state import OpState
from .registry import Registry

MAX_CALLBACKS = 100_000
"""Callbacks allowed without a new operation."""


class Surroundings(msgspec.Struct, frozen=True, gc=False):
    """What a replay may use of the engine."""

    info: RunInfo
    registry: Registry
    max_payload: int
    embedded: bool = False
    """Whether a single run is embedded without an engine, so that nothing can be done elsewhere or by others."""


class Settling(Protocol):
    """A join, a race or a loop: the outcome of its bodies is settled after the turn."""

    at: str

    def settle(self, state: OpState) -> None: ...


class Operation(Protocol):
    """What a scope needs to know of an operation."""

    kind: ClassVar[Any]

    @property
    def future(self) -> asyncio.Future[Any] | None: ...
    @property
    def settled(self) -> bool: ...
    @property
    def line(self) -> str: ...


class Generators(Protocol):
    """The async generators that a scope's code has started."""

    async def close_all(self) -> None: ...


class DeterministicLoop(Protocol):
    """The part of the workflow's event loop that operations use."""

    calls: int
    """Callbacks since the last operation; too many mean that the code is stuck."""
    stuck: bool

    def create_task(self, coro: Any) -> asyncio.Task[Any]: ...
    def spawn(self, coro: Any, context: contextvars.Context | None) -> asyncio.Task[Any]: ...


class Host(Protocol):
    definition: Workflow[Any, Any]
    history: History
    around: Surroundings
    record: Callable[[Event], None]
    effect: Callable[[Effect], None]
    now: Millis
    wall: Millis
    after: str | None
    replaying: bool
    evicted: bool
    handlers: dict[str, tuple[Callable[..., Any], Any]]
    unsettled: list[Settling]
    answering: Any
    """`Answering`, or None."""

    @property
    def loop(self) -> DeterministicLoop: ...
    @property
    def run_id(self) -> RunId: ...
    @property
    def collecting(self) -> bool: ...
    @property
    def silent(self) -> bool: ...

    def open(self, op: Any) -> None: ...
    def cancelled(self, op: Any) -> None: ...
    def undecodable(self, op: Any, why: str) -> None: ...
    def close(
        self, at: str, *, output: Raw = ABSENT, error: ErrorInfo | None = None, winner: str | None = None
    ) -> None: ...
    def feed(self, state: OpState) -> bool: ...
    def token(self, at: str) -> TaskToken: ...
    def child_id(self, at: str) -> RunId: ...
    def count_idle(self, what: str) -> None: ...
