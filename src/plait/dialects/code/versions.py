"""Changing code under live runs: `ctx.version` guards new code, `ctx.removed` stands in for deleted code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .events import Kind, OpOpened
from .location import segment
from .op import Op
from .op_state import OpState
from .path_words import UPDATE
from .scope import Scope
from .waits import is_own_timer


class VersionOp(Op[int]):
    """Answers within the turn: the recorded value, 1 for runs already past this point, else the latest."""

    kind = "version"
    __slots__ = ("_latest", "_resolved")

    def __init__(self, scope: Scope, name: str, latest: int) -> None:
        super().__init__(scope, name, depth=3)
        self._latest = latest
        self._resolved = latest

    def opened(self) -> OpOpened:
        return OpOpened(self.at, "version", self.scope.replay.after, value=self._resolved)

    def answer(self, value: int) -> None:
        self._resolved = value
        self.scope.done(self.name)
        if self.future is not None and not self.future.done():
            self.future.set_result(value)

    @property
    def latest(self) -> int:
        return self._latest

    def value(self, state: OpState) -> int:
        return state.value or 1


class RemovedOp(Op[None]):
    """Accepts what the history has under a name that the code no longer uses. Never recorded itself."""

    kind = "removed"
    __slots__ = ("original",)

    def __init__(self, scope: Scope, name: str, original: Kind, rollback: Callable[..., Any] | None) -> None:
        super().__init__(scope, name, depth=3)
        self.original: Kind = original
        if original == "timer" and is_own_timer(name):
            self.at = scope.prefix + name
        if original == "update":
            self.at = f"{scope.prefix}{UPDATE}{segment(name)}"
        if rollback is not None:
            scope.replay.handlers[self.at] = (rollback, Any)

    def answer(self) -> None:
        self.scope.done(self.name)
        if self.future is not None and not self.future.done():
            self.future.set_result(None)
