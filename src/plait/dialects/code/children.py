"""Other runs: starting one as a child, and sending one a message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from plait.kernel import values
from plait.kernel.effects import SendMessage, StartChild
from plait.kernel.errors import PlaitError
from plait.kernel.ids import RunId
from plait.kernel.machine import Prepared
from plait.kernel.values import NULL

from .errors import WorkflowCodeError
from .events import OpOpened
from .history import OpState
from .op import Op
from .scope import Scope
from .waits import Due

T = TypeVar("T")


Prepare = Callable[[], tuple[str, Prepared]]


class ChildOp(Op[T]):
    kind = "child"
    __slots__ = ("_due", "_keep", "_labels", "_prepare", "_prepared", "_run_id", "returns")

    def __init__(
        self,
        scope: Scope,
        name: str,
        prepare: Prepare,
        run_id: RunId | None,
        due: Due | None,
        labels: dict[str, str],
        keep: bool,
        returns: Any,
    ) -> None:
        super().__init__(scope, name, depth=3)
        self._prepare = prepare
        self._prepared: tuple[str, Prepared] | None = None
        self._run_id = run_id
        self._due = due
        self._labels = labels
        self._keep = keep
        self.returns = returns

    def opened(self) -> OpOpened:
        """Only here is the definition looked up: a replay needs it no more."""
        replay = self.scope.replay
        try:
            _, prepared = self._prepared = self._prepare()
        except PlaitError as error:
            code = error.code.removeprefix("CODE_") if error.code.startswith("CODE_") else "NOT_ENCODABLE"
            what = f"child `{self.name}`: {error.what}"
            raise WorkflowCodeError(code, what, fix=error.fix, why=error.why) from None
        run_id = self._run_id or replay.child_id(self.at)
        return OpOpened(
            self.at,
            "child",
            replay.after,
            run_id=run_id,
            given=self._run_id is not None,
            keep=self._keep,
            definition=prepared.definition,
        )

    def begin(self, state: OpState) -> None:
        self.scope.replay.effect(self._start(state))

    def _start(self, state: OpState) -> StartChild:
        dialect, prepared = self._prepared or self._prepare()
        return StartChild(
            self.token,
            state.run_id or self.scope.replay.child_id(self.at),
            dialect,
            prepared.definition,
            prepared.version,
            prepared.input,
            None if self._due is None else self._due.time(self.scope.replay.now),
            self._labels,
            prepared.data,
        )

    def value(self, state: OpState) -> Any:
        return values.decode(state.output or NULL, self.returns)


class SendOp(Op[None]):
    kind = "send"
    __slots__ = ("_body", "_message", "_raw", "_run_id")

    def __init__(self, scope: Scope, name: str, run_id: RunId, message: str, body: object) -> None:
        super().__init__(scope, name, depth=3)
        self._run_id = run_id
        self._message = message
        self._body = body
        self._raw = NULL

    def opened(self) -> OpOpened:
        replay = self.scope.replay
        try:
            self._raw = values.encode(self._body, max_bytes=replay.max_payload)
        except PlaitError as error:
            raise WorkflowCodeError("NOT_ENCODABLE", f"the body of send `{self.name}`", why=str(error)) from None
        return OpOpened(self.at, "send", replay.after, run_id=self._run_id, names=[self._message])

    def begin(self, state: OpState) -> None:
        replay = self.scope.replay
        replay.effect(SendMessage(self.token, self._run_id, self._message, self._raw))
        replay.close(self.at)

    def value(self, state: OpState) -> None:
        return None
