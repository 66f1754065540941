"""Steps: the only operation whose code touches the world. The engine calls it; the workflow only names it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec
from msgspec import Raw

from plait.kernel import values
from plait.kernel.errors import ErrorInfo, PlaitError
from plait.kernel.ids import caller_id
from plait.kernel.store import LineLevel
from plait.kernel.task import CALL, Attempt, Task, current_attempt
from plait.kernel.task_inputs import STEP, PythonInput
from plait.kernel.values import ABSENT, NULL

from .definition import Step, is_async, is_step, must_be_found
from .errors import WorkflowCodeError
from .events import OpOpened
from .hints import return_type
from .isolation import call_isolated, call_on_cluster
from .keyword_arguments import Arguments
from .location import check_name
from .op import Op
from .op_state import INLINE, OpState, Undoable
from .options import Options, StepOptions, bad_option
from .path_words import path_words
from .result_check import check_result
from .scope import Scope

T = TypeVar("T")

_init: Callable[..., None] = Op.__init__  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]


@dataclass(frozen=True, slots=True)
class StepInfo:
    """What a step can learn about the call it is in."""

    run_id: str
    path: str
    attempt: int
    idempotency_key: str
    """Equal on all attempts, also after a crash: pass it to the service you call."""
    last_progress: Any
    """What the previous attempt last passed to `heartbeat`."""


@dataclass(frozen=True, slots=True)
class Undo:
    """Passed to a rollback handler: what was done, and why it must be undone."""

    step: str
    output: Any
    args: list[Any] | dict[str, Any] | None
    """Arguments of a `@step`: in order, or by name if the call needed keywords."""
    error: ErrorInfo | None


def step_info() -> StepInfo:
    """Called in a step: returns its run, path, attempt and idempotency key."""
    attempt = _attempt("step_info()")
    task = attempt.task
    progress = values.decode(attempt.progress)
    return StepInfo(caller_id(attempt.run_id), task.node or task.token, attempt.number, task.key, progress)


def heartbeat(progress: object = None) -> None:
    """Called in a step with `heartbeat_timeout`: reports that it is alive, and its progress."""
    _attempt("heartbeat()").beat(values.encode(progress))


def step_log(text: str, level: LineLevel = "info") -> None:
    """Called in a step: records a line shown with it. In `plait serve`, lines sent to `logging` are kept too."""
    attempt = _attempt("step_log()")
    attempt.log(attempt, level, str(text))


def _attempt(what: str) -> Attempt:
    found = current_attempt.get()
    if found is None:
        raise WorkflowCodeError("WRONG_CTX", f"{what} was called outside a step", fix="call it in the step's function")
    return found


_PLAIN = (str, int, bool, float)
"""Types whose values decode to exactly what was encoded."""


class StepOp(Op[T]):
    kind = "step"
    __slots__ = ("_args", "_fn", "_named", "_options", "_raw", "returns", "threaded")

    def __init__(
        self,
        scope: Scope,
        name: str,
        fn: Callable[..., Any],
        named: Step[..., Any] | None,
        args: Arguments,
        options: Options,
        returns: Any,
    ) -> None:
        if named is None and not callable(fn):
            check_name("step", name)  # a forgotten name puts an argument in the function's place
            raise WorkflowCodeError(
                "BAD_OPTION", f"step `{name}` got {type(fn).__name__}, not a function", fix="pass `fn`, not `fn()`"
            )
        elsewhere = options.isolate or options.on is not None
        if elsewhere or options.queue is not None:
            _must_be_found(fn, named, name, options)
        _init(self, scope, name, 3)
        self._fn = fn
        self._named = named  # the same as `fn`, if that is a @step
        self._args = args
        self._options = options
        self._raw = ABSENT
        self.threaded = not is_async(fn) if named is None else named.threaded and not elsewhere
        if returns is Any:
            returns = return_type(fn) if named is None else (named.known_codec or named.codec()).returns
        self.returns = returns
        if options.rollback is not None:
            scope.replay.handlers[self.at] = (options.rollback, self.returns)

    def opened(self) -> OpOpened:
        named, options, replay = self._named, self._options, self.scope.replay
        undo = None if options.rollback is None else handler_ref(options.rollback)
        if named is None:
            return OpOpened(self.at, "step", replay.after, undo=undo)
        try:
            self._raw = values.encode(self._args, replay.around.max_payload)
        except PlaitError as error:
            what = f"an argument of step `{self.name}`"
            raise WorkflowCodeError("NOT_ENCODABLE", what, why=str(error)) from None
        return OpOpened(self.at, "step", replay.after, named.ref, self._raw, undo)

    def begin(self, state: OpState) -> None:
        effect = self.scope.replay.effect
        effect(self.task())

    def resume(self, state: OpState) -> None:
        if self._named is not None:
            self._raw = state.args

    def value(self, state: OpState) -> Any:
        codec = None if self._named is None else self._named.known_codec
        if codec is None or codec.result is None or self.returns is not codec.returns:
            return super().value(state)
        return codec.result.decode(state.output) if state.output else None

    def task(self) -> Task:
        named, options, at, replay = self._named, self._options, self.at, self.scope.replay
        if options.queue is not None and named is not None:
            return self._queued(named)
        history = replay.history
        if history.generation:
            token, key = replay.token(at), f"{history.run_id}:{at}:{history.generation}"
        else:  # the usual case: a run that was never rewound has paths as tokens
            token, key = at, f"{history.run_id}:{at}:0"
        label = f"step `{path_words(at) if '/' in at else at}`"
        return Task(token, label, CALL, self, options.policy, key, at)  # pyright: ignore[reportArgumentType]

    # -- as the input of its task --------------------------------------------------------------------------------

    def call(self) -> Any:
        """Calls the function; a @step gets decoded copies of its recorded arguments."""
        named = self._named
        if named is None or not self._raw:  # of a plain function, or one that was no @step then, nothing is recorded
            return self._fn(*self._args)
        if self._options.isolate:
            return call_isolated(named, self._raw, _attempt("an isolated step"), self.scope.replay.around.max_payload)
        if self._options.on is not None:
            return call_on_cluster(named, self._options.on, self._raw, _attempt("a step on a cluster"))
        try:
            arguments = named.arguments(self._raw)
        except (msgspec.DecodeError, TypeError, ValueError) as error:
            what = f"an argument of step `{self.at}` does not fit `{named.name}`"
            raise WorkflowCodeError("BAD_OPTION", what, why=str(error)) from None
        return named.fn(**arguments) if isinstance(arguments, dict) else named.fn(*arguments)

    def check(self, output: object, raw: Raw) -> None:
        """Fails the attempt if its result can't be decoded: once recorded, it would block the run."""
        returns = self.returns
        if type(output) is not returns or returns not in _PLAIN:
            check_result(f"step `{self.at}`", returns, output, raw)

    def _queued(self, named: Step[..., Any]) -> Task:
        """A task that names the function, for any worker that has it."""
        replay, at = self.scope.replay, self.at
        return Task(
            replay.token(at),
            f"step `{path_words(at)}`",
            STEP,
            PythonInput(named.name, self._raw),
            self._options.policy,
            f"{replay.run_id}:{at}:{replay.history.generation}",
            at,
            self._options.queue,
        )


def _must_be_found(fn: Callable[..., Any], named: Step[..., Any] | None, name: str, options: Options) -> None:
    """Refuses a function that no other process could find, if one is to call it."""
    if options.queue is not None:
        must_be_found(fn, name, f"go to the queue `{options.queue}`", "a worker")
    if options.isolate:
        must_be_found(fn, name, "have isolate=True", "a process of its own")
    if options.on is not None:
        must_be_found(fn, name, f"run on {options.on}", "the cluster")
    if options.queue is not None:
        _must_be_marked(named, name, options)


def _must_be_marked(named: Step[..., Any] | None, name: str, options: Options) -> None:
    """The worker that claims the task sees only the step, not the options of the call."""
    given: StepOptions = {} if named is None else named.given
    if options.isolate and not given.get("isolate"):
        what = f"step `{name}` is isolated by its call, and goes to the queue `{options.queue}`"
        raise bad_option(what, "mark the step itself: @step(isolate=True), for the worker to see")
    if options.on is not None and given.get("on") != options.on:
        what = f"step `{name}` runs on {options.on} by its call, and goes to the queue `{options.queue}`"
        raise bad_option(what, f'mark the step itself: @step(on="{options.on}"), for the worker to see')


def handler_ref(handler: Callable[..., Any]) -> str:
    """Named handlers can be found without the workflow's code; others only by replaying it."""
    return handler.ref if is_step(handler) and "<locals>" not in handler.ref else INLINE


def rollback_unbound(path: str) -> WorkflowCodeError:
    return WorkflowCodeError(
        "ROLLBACK_UNBOUND",
        f"no handler for `{path}`",
        why="it was written inside the workflow, and the loaded code does not come to it any more",
        fix="make it a @step, or give it again with ctx.removed(name, 'step', rollback=...)",
    )


def rollback_left_behind(path: str) -> WorkflowCodeError:
    return WorkflowCodeError(
        "ROLLBACK_UNBOUND",
        f"the workflow can't continue as new: nothing could undo `{path}` after that",
        why="its rollback handler was written inside the workflow, and is known only until then",
        fix="make the handler a @step",
    )


class UndoCall:
    """A rollback handler bound to the step it undoes."""

    __slots__ = ("error", "handler", "record", "returns", "threaded")

    def __init__(
        self, handler: Callable[..., Any] | None, returns: Any, record: Undoable, error: ErrorInfo | None
    ) -> None:
        self.handler = handler
        self.returns = returns
        self.record = record
        self.error = error
        self.threaded = handler is not None and not is_async(handler)

    def check(self, output: object, raw: Raw) -> None:
        """Accepts anything: nobody reads what a handler returns."""

    def call(self) -> Any:
        handler, record = self.handler, self.record
        if handler is None:
            raise rollback_unbound(record.at)
        output = values.decode(record.output or NULL, self.returns)
        args = values.decode(record.args) if record.args else None
        undo = Undo(record.at, output, args, self.error)
        return handler.fn(undo) if is_step(handler) else handler(undo)
