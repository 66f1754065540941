"""Other runs: starting one as a child, and sending one a message."""

from __future__ import annotations

from typing import Any, TypeVar

from plait.kernel import values
from plait.kernel.effects import SendMessage, StartChild
from plait.kernel.ids import Millis, RunId
from plait.kernel.machine import Prepared
from plait.kernel.values import NULL

from .events import OpOpened
from .history import OpState
from .op import Op
from .scope import Scope

T = TypeVar("T")


class ChildOp(Op[T]):
    kind = "child"
    __slots__ = ("_deadline", "_dialect", "_keep", "_labels", "_prepared", "_run_id", "returns")

    def __init__(
        self,
        scope: Scope,
        name: str,
        run_id: RunId | None,
        dialect: str,
        prepared: Prepared,
        deadline: Millis | None,
        labels: dict[str, str],
        keep: bool,
        returns: Any,
    ) -> None:
        super().__init__(scope, name, depth=3)
        self._run_id = run_id or scope.playback.child_id(self.at)
        self._dialect = dialect
        self._prepared = prepared
        self._deadline = deadline
        self._labels = labels
        self._keep = keep
        self.returns = returns

    def opened(self) -> OpOpened:
        after = self.scope.playback.after
        return OpOpened(
            self.at, "child", after, run_id=self._run_id, keep=self._keep, definition=self._prepared.definition
        )

    def begin(self, state: OpState) -> None:
        self.scope.playback.effect(self.start())

    def start(self) -> StartChild:
        prepared = self._prepared
        return StartChild(
            self.token,
            self._run_id,
            self._dialect,
            prepared.definition,
            prepared.version,
            prepared.input,
            self._deadline,
            self._labels,
            prepared.data,
        )

    def value(self, state: OpState) -> Any:
        return values.decode(state.output or NULL, self.returns)


class SendOp(Op[None]):
    kind = "send"
    __slots__ = ("_body", "_message", "_run_id")

    def __init__(self, scope: Scope, name: str, run_id: RunId, message: str, body: object) -> None:
        super().__init__(scope, name, depth=3)
        self._run_id = run_id
        self._message = message
        self._body = values.encode(body)

    def opened(self) -> OpOpened:
        return OpOpened(self.at, "send", self.scope.playback.after, run_id=self._run_id, names=[self._message])

    def begin(self, state: OpState) -> None:
        playback = self.scope.playback
        playback.effect(SendMessage(self.token, self._run_id, self._message, self._body))
        playback.close(self.at)

    def value(self, state: OpState) -> None:
        return None
