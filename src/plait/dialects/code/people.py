"""Asking a person: `ctx.approve`."""

from __future__ import annotations

from typing import Any

import msgspec

from plait.kernel import values
from plait.kernel.effects import AskHuman, SetTimer
from plait.kernel.ids import Millis

from .events import OpOpened
from .history import OpState
from .op import Op
from .scope import Scope


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
    __slots__ = ("_by", "_deadline")

    def __init__(self, scope: Scope, name: str, by: str, deadline: Millis | None) -> None:
        super().__init__(scope, name, depth=3)
        self._by = by
        self._deadline = deadline

    def opened(self) -> OpOpened:
        names = [self._by] if self._by else None
        return OpOpened(self.at, "approval", self.scope.playback.after, names=names, deadline=self._deadline)

    def begin(self, state: OpState) -> None:
        playback = self.scope.playback
        playback.effect(AskHuman(self.token, self.name, self._by, self._deadline))
        if self._deadline is not None:
            playback.effect(SetTimer(self.token, self._deadline))

    def value(self, state: OpState) -> Verdict:
        return Verdict("timeout") if state.output is None else values.decode(state.output, Verdict)
