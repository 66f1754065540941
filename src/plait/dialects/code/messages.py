"""Messages that other people and programs send to a run, queued in order until its code listens."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, TypeVar

import msgspec

from plait.kernel import values
from plait.kernel.effects import SetTimer

from .errors import MessageBodyError
from .events import OpOpened
from .message import Message
from .message_queue import QueuedMessage
from .op import Op
from .op_state import OpState
from .scope import Scope
from .waits import Due

T = TypeVar("T")


class ListenOp(Op[Any]):
    """Waits for one message, or for up to `limit` of them."""

    kind = "message"
    __slots__ = ("_due", "_limit", "_names", "_type", "returns")

    def __init__(
        self, scope: Scope, name: str, names: list[str], type: Any, due: Due | None, limit: int | None
    ) -> None:
        super().__init__(scope, name, depth=4)
        self._names = names
        self._type = type
        self._due = due
        self._limit = limit
        self.returns: Any = Message[type] | None if limit is None else list[Message[type]]

    def opened(self) -> OpOpened:
        replay = self.scope.replay
        deadline = None if self._due is None else self._due.time(replay.now)
        return OpOpened(self.at, "message", replay.after, deadline=deadline, names=self._names, limit=self._limit)

    def begin(self, state: OpState) -> None:
        replay = self.scope.replay
        if replay.feed(state) or state.deadline is None:
            return
        if state.deadline <= replay.wall:
            replay.close(self.at)
        else:
            replay.effect(SetTimer(self.token, state.deadline))

    def value(self, state: OpState) -> Message[Any] | list[Message[Any]] | None:
        received = state.received or []
        try:
            found = [_message(message, self._type) for message in received]
        except _Misfit as misfit:
            raise MessageBodyError(str(misfit), [_message(message, Any) for message in received]) from None
        if state.limit is not None:
            return found
        return found[0] if found else None


class _Misfit(Exception):
    pass


def _message(message: QueuedMessage, type: Any) -> Message[Any]:
    try:
        body = values.decode(message.body, type)
    except (msgspec.DecodeError, TypeError, ValueError) as error:
        raise _Misfit(f"message `{message.name}` ({message.id}): {error}") from None
    return Message(message.id, message.name, body, datetime.fromtimestamp(message.sent_at / 1000, UTC))
