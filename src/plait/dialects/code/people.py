"""Asking a person: `ctx.approve`."""

from __future__ import annotations

from typing import Any

import msgspec

from plait.kernel import values
from plait.kernel.effects import AskHuman, SetTimer

from .events import OpOpened
from .history import OpState
from .op import Op
from .scope import Scope
from .waits import Due


class Verdict(msgspec.Struct, frozen=True):
    """A person's decision. `decision` is `timeout` when nobody decided in time."""

    decision: str
    by: str = ""
    comment: str = ""
    data: Any = None

    @property
    def approved(self) -> bool:
        return self.decision == "approve"


class ApproveOp(Op[Verdict]):
    kind = "approval"
    returns: Any = Verdict
    __slots__ = ("_by", "_due")

    def __init__(self, scope: Scope, name: str, by: str, due: Due | None) -> None:
        super().__init__(scope, name, depth=3)
        self._by = by
        self._due = due

    def opened(self) -> OpOpened:
        names = [self._by] if self._by else None
        playback = self.scope.playback
        deadline = None if self._due is None else self._due.time(playback.now)
        return OpOpened(self.at, "approval", playback.after, names=names, deadline=deadline)

    def begin(self, state: OpState) -> None:
        playback = self.scope.playback
        playback.effect(AskHuman(self.token, self.name, self._by, state.deadline))
        if state.deadline is not None:
            playback.effect(SetTimer(self.token, state.deadline))

    def value(self, state: OpState) -> Verdict:
        return values.decode(state.output, Verdict) if state.output else Verdict("timeout")
