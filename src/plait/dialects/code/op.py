"""An operation: what a `ctx` call returns. It is recorded under its name, for good, when it is awaited.

An operation is a coroutine to asyncio, so `gather`, `create_task` and `wait_for` accept it. Each kind
defines how it is recorded (`opened`), what follows from that (`begin`), how it resumes on replay
(`resume`), what its result is (`value`), and how it is revoked.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine, Generator
from types import CodeType, TracebackType
from typing import Any, ClassVar, Generic, TypeVar

from plait.kernel import values
from plait.kernel.effects import Answer, CancelChild, CancelTask, ClearTimer, Effect, WithdrawApproval
from plait.kernel.errors import Conflict, ErrorInfo
from plait.kernel.ids import TaskToken

from .errors import StepError, mark, to_exception
from .events import Kind, OpOpened
from .host import Host
from .op_state import OpState
from .scope import Scope, current

T_co = TypeVar("T_co", covariant=True)

_current = current.get


class OpFuture(asyncio.Future[Any]):
    """Notifies its operation when the workflow's code cancels it."""

    __slots__ = ("op",)

    op: Op[Any] | None
    """None once it has its result: otherwise the two would keep each other alive until a garbage collection."""

    def cancel(self, msg: object = None) -> bool:
        if not super().cancel(msg):
            return False
        if self.op is not None:
            self.op.scope.replay.cancelled(self.op)
        return True


class Op(Coroutine[Any, Any, T_co], Generic[T_co]):
    """What a `ctx` call returns: awaited once, or passed to `gather` and the like."""

    kind: ClassVar[Kind]
    returns: Any = Any
    __slots__ = ("_code", "_iterator", "_place", "at", "dropped", "future", "name", "scope")

    def __init__(self, scope: Scope, name: str, depth: int = 2) -> None:
        self.scope = scope
        self.name = name
        self.at = scope.claim(name, self)
        self.future: OpFuture | None = None
        self.dropped = False
        self._iterator: Any = None
        frame = sys._getframe(depth)  # pyright: ignore[reportPrivateUsage]
        self._code: CodeType = frame.f_code
        self._place = frame.f_lasti  # its line is computed on demand

    # -- for asyncio ---------------------------------------------------------------------------------------------

    def __await__(self) -> Generator[Any, Any, T_co]:
        future = self.future
        if future is None:
            scope = self.scope
            replay = scope.replay
            if _current() is not scope or scope.dead or replay.evicted:
                scope.refuse(self.kind, self.name)
                return _nothing(replay)
            future = self.future = OpFuture(loop=replay.loop)  # pyright: ignore[reportArgumentType]
            future.op = self
            replay.open(self)
        return iter(future)  # like `__await__`, without the attribute lookup

    def send(self, value: Any) -> Any:
        if self._iterator is None:
            self._iterator = self.__await__()
        return self._iterator.send(value)

    def throw(self, typ: Any, val: BaseException | object = None, tb: TracebackType | None = None) -> Any:
        if self._iterator is None:
            self.dropped = True
            self._iterator = iter(())
            raise typ if isinstance(typ, BaseException) else typ(val) if val is not None else typ()
        return self._iterator.throw(typ) if val is None else self._iterator.throw(typ, val, tb)

    def close(self) -> None:
        self.dropped = True
        if self._iterator is not None and hasattr(self._iterator, "close"):
            self._iterator.close()

    # -- for the replay ----------------------------------------------------------------------------------------

    def opened(self) -> OpOpened:
        """The event that records it."""
        raise NotImplementedError

    def begin(self, state: OpState) -> None:
        """Called right after the operation was recorded for the first time."""

    def resume(self, state: OpState) -> None:
        """Called on replay if it is recorded and still open, or if its body is entered to find rollback handlers."""

    def revoke(self) -> None:
        """Called when the workflow's code cancels the operation; stops its bodies too."""

    def misfit(self, state: OpState) -> str | None:
        """How the code differs from what was recorded at this location, or None."""
        return None

    @property
    def words(self) -> str:
        """What the code asks for, where that differs from what was recorded."""
        return f"{self.kind} `{self.name}`"

    def value(self, state: OpState) -> Any:
        """The result, decoded to a fresh copy."""
        return values.decode(state.output, self.returns) if state.output else None

    def fail(self, error: BaseException) -> None:
        if self.future is not None and not self.future.done():
            self.future.set_exception(error)

    def deliver(self, state: OpState) -> None:
        """Hands the recorded result to the code that awaits it."""
        future = self.future
        if future is None or future.done():
            return
        future.op = None
        self.scope.done(self.name)
        if state.status == "failed":
            future.set_exception(self.exception(state.error))
            return
        try:
            value = self.value(state)
        except StepError as error:
            future.set_exception(mark(error, self.at))
            return
        except Exception as error:  # from a decoder, or from the constructor of a user's type
            self.scope.replay.undecodable(self, str(error) or type(error).__name__)
            return
        future.set_result(value)

    def exception(self, info: ErrorInfo | None) -> BaseException:
        error = to_exception(info) if info is not None else StepError("failed")
        if isinstance(error, StopIteration):  # a future can't raise StopIteration
            error = StepError(f"StopIteration: {error}")
        return mark(error, self.at)

    @property
    def settled(self) -> bool:
        return self.dropped or (self.future is not None and self.future.done())

    @property
    def line(self) -> str:
        line = next((line for begin, end, line in self._code.co_lines() if begin <= self._place < end), None)
        return f"{self._code.co_filename}:{line}"

    @property
    def token(self) -> TaskToken:
        return self.scope.replay.token(self.at)


def _nothing(replay: Host) -> Generator[Any, Any, Any]:
    """A wait without end, for code that keeps calling after it was cancelled."""
    return asyncio.Future[Any](loop=replay.loop).__await__()  # pyright: ignore[reportArgumentType]


def revoking(state: OpState, token: TaskToken) -> list[Effect]:
    """The effects that stop an open operation whose result is no longer needed."""
    match state.kind:
        case "step":
            return [CancelTask(token)]
        case "sleep" | "timer":
            return [ClearTimer(token)]
        case "message":
            return [ClearTimer(token)] if state.deadline is not None else []
        case "approval":
            return [WithdrawApproval(token), ClearTimer(token)]
        case "update":
            [name] = state.names or [""]
            return [Answer(state.key, refusal=Conflict("CODE_NO_UPDATE", f"update `{name}` was removed from the code"))]
        case "child" if state.run_id is not None:
            return [CancelChild(state.run_id)]
        case _:
            return []
