"""Loops with durable state: finished iterations are trimmed from the history, so a loop can run for years."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Never, cast, get_args, get_origin

import msgspec
from msgspec import Raw

from plait.kernel import values
from plait.kernel.errors import PlaitError
from plait.kernel.values import ABSENT, NULL

from .errors import StepError, WorkflowCodeError, to_info
from .events import LoopCommitted, LoopTrimmed, OpOpened
from .hints import return_type, state_type
from .op import Op
from .op_state import OpState
from .result_check import check_result
from .scope import Scope, current

log = logging.getLogger("plait.code")

if TYPE_CHECKING:
    from typing_extensions import TypeVar  # for `default`, with which `Loop` needs no type arguments

    S_co = TypeVar("S_co", covariant=True, default=Any)
    R_co = TypeVar("R_co", covariant=True, default=Any)
    S = TypeVar("S", default=None)
    R = TypeVar("R", default=None)
else:
    from typing import TypeVar

    S_co, R_co = TypeVar("S_co", covariant=True), TypeVar("R_co", covariant=True)
    S, R = TypeVar("S"), TypeVar("R")

T = TypeVar("T")
MISSING: Any = object()


@dataclass(frozen=True, slots=True)
class Loop(Generic[S_co, R_co]):
    """What a loop's body returns: `Loop.continue_(state)` to go on, or `Loop.break_(value)` to stop. The annotation
    `-> Loop[State, Receipt]` on the body gives the loop's result that type."""

    goes_on: bool
    value: Any

    @staticmethod
    def continue_(state: S = None) -> Loop[S, Never]:
        return Loop(True, state)

    @staticmethod
    def break_(value: R = None) -> Loop[Never, R]:
        return Loop(False, value)


@dataclass(frozen=True, slots=True)
class Keeping:
    """When a loop commits its state, and how many iterations stay in the history."""

    commit_interval: int
    history_every: int
    history_keep: int


class LoopOp(Op[T]):
    kind = "loop"
    __slots__ = ("_body", "_context", "_end", "_initial", "_iteration_scope", "_keeping", "_starts", "_task", "returns")

    def __init__(
        self,
        scope: Scope,
        name: str,
        body: Callable[..., Awaitable[Any]],
        initial: Any,
        keeping: Keeping,
        returns: Any,
        context: Callable[[Scope], Any],
    ) -> None:
        if not callable(body):
            raise WorkflowCodeError("BRANCH", f"loop `{name}` got no function", fix="pass the function, not `fn(ctx)`")
        super().__init__(scope, name, depth=3)
        self._body = body
        self._initial = initial
        self._keeping = keeping
        self._context = context
        self._task: asyncio.Task[Raw] | None = None
        self._iteration_scope: Scope | None = None
        self._starts: dict[int, Raw] = {}
        self._end: tuple[int, Raw] | None = None
        """The number of iterations at the break, and the state of the last one."""
        self.returns = _result_type(body) if returns is Any else returns

    def opened(self) -> OpOpened:
        raw = ABSENT if self._initial is MISSING else self._encode(self._initial, "its first state")
        return OpOpened(self.at, "loop", self.scope.replay.after, state=raw)

    def begin(self, state: OpState) -> None:
        self.resume(state)

    def resume(self, state: OpState) -> None:
        replay = self.scope.replay
        self._task = replay.loop.spawn(self._drive(state), contextvars.copy_context())
        self._task.add_done_callback(self._ended)

    def _ended(self, _: object) -> None:
        self.scope.replay.unsettled.append(self)

    def revoke(self) -> None:
        if self._iteration_scope is not None:
            self._iteration_scope.abandon()
        if self._task is not None:
            self._task.cancel()

    def settle(self, state: OpState) -> None:
        task, replay = self._task, self.scope.replay
        if task is None or not task.done():
            return
        error = StepError(f"loop `{self.at}` was cancelled by its own code") if task.cancelled() else task.exception()
        if error is None:
            replay.close(self.at, output=task.result())
            # Read only now: while the loop is open, the committed state is the start of another iteration
            if self._end is not None and not replay.replaying:
                number, raw = self._end
                self._commit(number, raw)
                self._trim(number)
        else:
            if self._iteration_scope is not None:
                self._iteration_scope.abandon()
            replay.close(self.at, error=to_info(error))

    def value(self, state: OpState) -> Any:
        return values.decode(state.output, self.returns) if state.output else None

    async def _drive(self, state: OpState) -> Raw:
        replay, stateful = self.scope.replay, self._initial is not MISSING
        base = Scope(replay, self.at)
        if replay.collecting:
            for number, start in sorted((state.starts or {}).items()):
                await self._iterate(base.child(number), self._state(start), stateful)
            if state.status == "completed":
                return ABSENT
        number, raw = state.iteration, state.state
        begins = self._state(raw)
        while True:
            self._starts[number] = raw or NULL
            verdict = await self._iterate(base.child(number), begins, stateful)
            number += 1
            if not verdict.goes_on:
                self._end = (number, raw)
                result = self._encode(verdict.value, "its result")
                check_result(f"loop `{self.at}`", self.returns, verdict.value, result)
                return result
            raw = self._encode(verdict.value, "its state") if stateful else ABSENT
            begins = self._state(raw)  # checked before the commit: an iteration can't start with a misfit
            self._keep(number, raw)
            replay.count_idle(f"loop `{self.at}`")

    def _state(self, raw: Raw) -> tuple[Any, ...]:
        """The state that the body receives beside its ctx."""
        if self._initial is MISSING:
            return ()
        try:
            return (values.decode(raw, state_type(self._body)),)
        except (msgspec.DecodeError, TypeError, ValueError) as error:
            raise TypeError(f"the state of loop `{self.at}` does not fit the parameter of its body: {error}") from None

    async def _iterate(self, scope: Scope, state: tuple[Any, ...], stateful: bool) -> Loop[Any, Any]:
        self._iteration_scope = scope
        current.set(scope)
        verdict = await scope.enter(lambda scope: self._call(scope, state))
        if verdict is None and not stateful:
            return Loop.continue_()
        if not isinstance(verdict, Loop):
            raise WorkflowCodeError(
                "LOOP_RESULT",
                f"the body of loop `{self.at}` returned {verdict!r}",
                fix="return Loop.continue_(state) or Loop.break_(value)",
            )
        return cast("Loop[Any, Any]", verdict)

    def _call(self, scope: Scope, state: tuple[Any, ...]) -> Awaitable[Any]:
        awaitable: Any = self._body(self._context(scope), *state)
        if not inspect.isawaitable(awaitable):
            what = f"the body of loop `{self.at}` returned nothing to await"
            raise WorkflowCodeError("BRANCH", what, fix="make it an async function")
        return awaitable

    def _keep(self, number: int, raw: Raw) -> None:
        replay, keeping = self.scope.replay, self._keeping
        if replay.replaying:
            return
        trims = number % keeping.history_every == 0 and number > keeping.history_keep
        if trims or number % keeping.commit_interval == 0:
            self._commit(number, raw)  # before a trim, or a replay would lack the iterations it needs
        if trims:
            self._trim(number)

    def _commit(self, number: int, raw: Raw) -> None:
        replay = self.scope.replay
        inline = replay.history.inline_iterations(self.at, number)
        starts = {n: self._starts[n] for n in inline if n in self._starts}
        replay.record(LoopCommitted(self.at, number, raw or NULL, starts))
        self._starts.clear()

    def _trim(self, number: int) -> None:
        replay = self.scope.replay
        below = number - self._keeping.history_keep
        if below <= 0:
            return
        kept = replay.history.inline_iterations(self.at, below)
        if kept:
            log.warning("loop `%s` keeps iterations %s: make their rollback handlers @step functions", self.at, kept)
        replay.record(LoopTrimmed(self.at, below, kept))
        inside = f"{self.at}/"
        for path in [path for path in replay.handlers if path.startswith(inside) and path not in replay.history.ops]:
            del replay.handlers[path]

    def _encode(self, value: object, what: str) -> Raw:
        try:
            return values.encode(value, max_bytes=self.scope.replay.around.max_payload)
        except PlaitError as error:
            raise WorkflowCodeError("NOT_ENCODABLE", f"loop `{self.at}`: {what}", why=str(error)) from None


def _result_type(body: Callable[..., Any]) -> Any:
    """The result type that a body declares for its loop, as in `-> Loop[State, Receipt]`, or Any."""
    found = return_type(body)
    return get_args(found)[1] if get_origin(found) is Loop else Any
