"""Waiting for time: `ctx.sleep`, `ctx.timeout`, and the timers behind `asyncio.sleep` and `asyncio.timeout`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import NamedTuple

from plait.kernel.effects import SetTimer
from plait.kernel.ids import Millis

from .events import Kind, OpOpened
from .op import Op
from .op_state import OpState
from .scope import Scope

MAX_WAIT = 100 * 366 * 86_400.0


class Due(NamedTuple):
    """When something is due: at a time, or a duration after its operation opens."""

    at: Millis | None = None
    after: int = 0

    def time(self, now: Millis) -> Millis:
        return Millis(now + self.after) if self.at is None else self.at


def is_own_timer(name: str) -> bool:
    """Whether asyncio asked for it: its name is generated, and printed unescaped."""
    return name.startswith("~timer.")


class SleepOp(Op[None]):
    kind: Kind = "sleep"  # type: ignore[misc]
    __slots__ = ("_due",)

    def __init__(self, scope: Scope, name: str, due: Due, depth: int = 3) -> None:
        super().__init__(scope, name, depth)
        self._due = due

    def opened(self) -> OpOpened:
        replay = self.scope.replay
        return OpOpened(self.at, self.kind, replay.after, deadline=self._due.time(replay.now))

    def begin(self, state: OpState) -> None:
        replay = self.scope.replay
        deadline = state.deadline or Millis(0)
        if deadline <= replay.wall:
            replay.close(self.at)
        else:
            replay.effect(SetTimer(self.token, deadline))

    def value(self, state: OpState) -> None:
        return None


class TimerOp(SleepOp):
    """A timer requested by asyncio or `ctx.timeout`: calls back instead of being awaited."""

    kind: Kind = "timer"  # type: ignore[misc]
    __slots__ = ("_fire",)

    def __init__(self, scope: Scope, name: str, due: Due, fire: Callable[[], None]) -> None:
        super().__init__(scope, name, due, depth=5)
        self._fire = fire
        if is_own_timer(name):
            self.at = scope.prefix + name  # generated, so that it can't collide with a user's name

    def start(self) -> None:
        self.__await__()

    def deliver(self, state: OpState) -> None:
        super().deliver(state)
        self._fire()


class Timeout:
    """`async with ctx.timeout(name, seconds)`: raises TimeoutError inside when the durable time is up."""

    def __init__(self, scope: Scope, name: str, due: Due) -> None:
        self._op = TimerOp(scope, name, due, self._expire)
        self._task: asyncio.Task[object] | None = None
        self._cancelling = 0
        self._expired = False
        self._left = False

    async def __aenter__(self) -> Timeout:
        self._task = asyncio.current_task()
        self._cancelling = self._task.cancelling() if self._task else 0
        self._op.start()
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        self._left = True
        if not self._expired:
            if self._op.future is not None:
                self._op.future.cancel()
            return
        if self._task is not None and self._task.uncancel() <= self._cancelling and exc_type is asyncio.CancelledError:
            raise TimeoutError(f"timeout `{self._op.name}` is over") from exc

    def _expire(self) -> None:
        if not self._left and self._task is not None:
            self._expired = True
            self._task.cancel()
