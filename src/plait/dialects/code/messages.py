"""Messages: what other people and programs tell a run, kept in order until its code listens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import msgspec

from plait.kernel import values
from plait.kernel.effects import SetTimer
from plait.kernel.ids import Millis

from .errors import MessageBodyError
from .events import OpOpened
from .history import OpState, QueuedMessage
from .op import Op
from .scope import Scope

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Message(Generic[T]):
    id: str
    name: str
    body: T
    sent_at: Millis


class ListenOp(Op[Any]):
    """Waits for one message, or for up to `limit` of them."""

    kind = "message"
    __slots__ = ("_deadline", "_limit", "_names", "_type")

    def __init__(
        self, scope: Scope, name: str, names: list[str], type: Any, deadline: Millis | None, limit: int | None
    ) -> None:
        super().__init__(scope, name, depth=3)
        self._names = names
        self._type = type
        self._deadline = deadline
        self._limit = limit

    def opened(self) -> OpOpened:
        after = self.scope.playback.after
        return OpOpened(self.at, "message", after, deadline=self._deadline, names=self._names, limit=self._limit)

    def begin(self, state: OpState) -> None:
        playback = self.scope.playback
        if playback.feed(state):
            return
        if self._deadline is not None and self._deadline <= playback.wall:
            playback.close(self.at)
        elif self._deadline is not None:
            playback.effect(SetTimer(self.token, self._deadline))

    def value(self, state: OpState) -> Message[Any] | list[Message[Any]] | None:
        received = [self._decode(message) for message in state.received or ()]
        if state.limit is not None:
            return received
        return received[0] if received else None

    def _decode(self, message: QueuedMessage) -> Message[Any]:
        try:
            body = values.decode(message.body, self._type)
        except (msgspec.DecodeError, TypeError, ValueError) as error:
            raise MessageBodyError(f"message `{message.name}` ({message.id}): {error}") from None
        return Message(message.id, message.name, body, message.sent_at)
