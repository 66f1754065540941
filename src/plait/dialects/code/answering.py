"""What a running workflow answers to callers: queries, which only read; updates, which may be refused and return an
answer; and published values, which anyone may read.

The handler of an update is workflow code: it starts at its place among the deliveries, on the first run and on every
replay, and runs beside the workflow function in its own scope. A query reads the state that a replay has reached. A
published value is an event; scope, key and count tell whether it is already recorded.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import msgspec
from msgspec import Raw

from plait.definitions.nearest import did_you_mean
from plait.kernel import values
from plait.kernel.effects import Answer
from plait.kernel.errors import Conflict, InvalidInput, NotFound, PlaitError
from plait.kernel.events import Event
from plait.kernel.ids import RunId, caller_id
from plait.kernel.values import ABSENT

from .definition import is_async
from .divergence import no_handler
from .errors import StepError, WorkflowCodeError, to_info
from .events import Published, RunBlocked, UpdateClosed
from .hints import hint, unreadable
from .host import Host
from .location import segment
from .op_state import OpState
from .options import bad_option
from .path_words import UPDATE
from .scope import Scope, current

Function = Callable[..., Any]


def update_path(name: str, number: int) -> str:
    """The scope of an update's handler."""
    return f"{UPDATE}{segment(name)}/~{number}"


class Answering:
    """The handlers that the code of one run has registered, and the values it has published."""

    def __init__(self, context: Callable[[Scope], Any]) -> None:
        self._context = context
        self._queries: dict[str, _Handler] = {}
        self._updates: dict[str, UpdateHandler] = {}
        self._running: Running = {}
        self._counts: dict[str, dict[str, int]] = {}
        self._held: list[Published] = []

    # -- queries -------------------------------------------------------------------------------------------------

    def add_query(self, name: str, fn: Function) -> None:
        if not callable(fn) or is_async(fn):
            raise bad_option(f"the handler of query `{name}`", "pass a plain function: a query only reads")
        self._queries[name] = _Handler("query", name, fn, 0)

    def query(self, run_id: RunId, name: str, argument: Raw, max_payload: int) -> Raw:
        """Returns the encoded answer; raises a `PlaitError` to refuse."""
        found = self._queries.get(name)
        if found is None:
            raise no_such("query", run_id, name, self._queries)
        arguments = found.arguments(argument)
        try:
            answer = contextvars.Context().run(found.fn, *arguments)
        except Exception as error:
            raise Conflict("CODE_QUERY_FAILED", f"query `{name}` failed", why=_why(error)) from None
        return values.encode(answer, max_bytes=max_payload)

    # -- updates -------------------------------------------------------------------------------------------------

    def add_update(self, name: str, fn: Function, validator: Function | None) -> None:
        if not callable(fn):
            raise bad_option(f"the handler of update `{name}`", "pass the function, not `fn(ctx)`")
        if validator is not None and (not callable(validator) or is_async(validator)):
            raise bad_option(f"the validator of update `{name}`", "pass a plain function: it only looks, and may raise")
        self._updates[name] = UpdateHandler(name, fn, validator, self._context, self._running)

    def update(self, state: OpState) -> UpdateHandler | None:
        return self._updates.get("".join(state.names or ()))

    def accept(self, run_id: RunId, name: str, body: Raw) -> None:
        """Raises if there is no such update or its validator refuses this one."""
        found = self._updates.get(name)
        if found is None:
            raise no_such("update", run_id, name, self._updates)
        found.validate(body)

    def settle_all(self, replay: Host, how: str) -> None:
        """Answers all open updates once the run has ended or continued as new: with their result, or with a refusal."""
        for running in list(self._running.values()):
            running.end(replay, how)

    # -- publishing ----------------------------------------------------------------------------------------------

    def publish(self, scope: Scope, key: str, value: Raw) -> None:
        replay = scope.replay
        counts = self._counts.setdefault(scope.path, {})
        n = counts[key] = counts.get(key, -1) + 1
        if n < replay.history.published.get(scope.path, {}).get(key, 0):
            return
        event = Published(scope.path, key, n, value)
        if replay.replaying or replay.collecting:
            self._held.append(event)
        else:
            replay.record(event)

    def publish_held(self, record: Callable[[Event], None]) -> None:
        """Records what was published during the replay, now that the code is known to fit."""
        held, self._held = self._held, []
        for event in held:
            record(event)


class _Handler:
    """A handler function and the one argument it may take from the caller."""

    def __init__(self, kind: str, name: str, fn: Function, first: int) -> None:
        """`first` is the number of parameters before that argument."""
        self.kind = kind
        self.name = name
        self.fn = fn
        parameters = list(inspect.signature(fn).parameters.values())
        self._takes = len(parameters) > first
        self._needs = self._takes and parameters[first].default is inspect.Parameter.empty
        self.type: Any = hint(fn, parameters[first].name) if self._takes else Any
        if self._takes and (why := unreadable(fn, [parameters[first].name])) is not None:
            raise bad_option(f"the handler of {kind} `{name}`: {why}", "use another annotation, or none")

    def arguments(self, sent: Raw) -> tuple[Any, ...]:
        """The caller's argument decoded to the annotated type; raises `InvalidInput` if it does not fit."""
        if not self._takes and bytes(sent) != b"null":
            raise InvalidInput("CODE_INPUT_INVALID", f"{self.kind} `{self.name}` takes no argument", fix="leave it out")
        if not self._takes or (not self._needs and bytes(sent) == b"null"):
            return ()
        try:
            return (values.decode(sent, self.type),)
        except (msgspec.DecodeError, TypeError, ValueError) as error:
            what = f"what was sent does not fit {self.kind} `{self.name}`"
            raise InvalidInput("CODE_INPUT_INVALID", what, why=str(error)) from None


class UpdateHandler(_Handler):
    def __init__(
        self,
        name: str,
        fn: Function,
        validator: Function | None,
        context: Callable[[Scope], Any],
        running: Running,
    ) -> None:
        super().__init__("update", name, fn, 1)
        self._validator = validator
        self._context = context
        self._running = running

    def validate(self, body: Raw) -> None:
        arguments = self.arguments(body)
        if self._validator is None:
            return
        try:
            contextvars.Context().run(self._validator, *arguments)
        except Exception as error:
            raise InvalidInput("CODE_UPDATE_REJECTED", f"update `{self.name}` was rejected", why=_why(error)) from None

    def begin(self, replay: Host, state: OpState) -> str | None:
        """Starts the handler; returns a reason if the recorded argument does not fit it."""
        try:
            arguments = self.arguments(state.args)
        except InvalidInput as misfit:
            return misfit.why or misfit.what
        scope = Scope(replay, state.at)
        context = contextvars.copy_context()
        context.run(current.set, scope)
        task = replay.loop.spawn(scope.enter(partial(self._call, arguments)), context)
        running = self._running[state.at] = RunningUpdate(state, scope, task, self._running)
        task.add_done_callback(lambda _: replay.unsettled.append(running))
        # The caller is told of a failure. Retrieving the exception keeps asyncio from reporting it as never retrieved
        task.add_done_callback(lambda task: task.cancelled() or task.exception())
        return None

    async def _call(self, arguments: tuple[Any, ...], scope: Scope) -> Any:
        result = self.fn(self._context(scope), *arguments)
        return await result if inspect.isawaitable(result) else result


class RunningUpdate:
    """An update whose handler is running."""

    def __init__(self, state: OpState, scope: Scope, task: asyncio.Task[Any], running: Running) -> None:
        self.at = state.at
        self._key = state.key
        self._name = "".join(state.names or ())
        self._scope = scope
        self._task = task
        self._running = running

    def settle(self, state: OpState) -> None:
        """Called after each turn: once the handler has ended, records its result and answers the caller."""
        if self._task.done():
            self._close(self._scope.replay)

    def end(self, replay: Host, how: str) -> None:
        """Answers the update because the run ends."""
        state = replay.history.ops.get(self.at)
        if state is None or state.status != "open":
            return
        if self._task.done():
            self._close(replay)
            return
        run = caller_id(replay.run_id)
        refusal = Conflict("RUN_FINISHED", f"run {run} {how} before update `{self._name}` was done")
        self._answer(replay, UpdateClosed(self.at, self._key, error=to_info(refusal)), refusal)

    def _close(self, replay: Host) -> None:
        task, stopped = self._task, StepError(f"update `{self._name}` was cancelled by its own code")
        error = stopped if task.cancelled() else task.exception()
        self._scope.abandon()
        raw = ABSENT
        if error is None:
            try:
                raw = values.encode(task.result(), max_bytes=replay.around.max_payload)
            except PlaitError as problem:
                error = WorkflowCodeError("NOT_ENCODABLE", f"the result of update `{self._name}`", why=str(problem))
        if error is None:
            self._answer(replay, UpdateClosed(self.at, self._key, raw), None)
        else:
            refusal = Conflict("CODE_UPDATE_FAILED", f"update `{self._name}` failed", why=_why(error))
            self._answer(replay, UpdateClosed(self.at, self._key, error=to_info(error)), refusal)

    def _answer(self, replay: Host, closed: UpdateClosed, refusal: PlaitError | None) -> None:
        self._running.pop(self.at, None)
        replay.record(closed)
        replay.effect(Answer(self._key, closed.output or values.NULL, refusal))


def begin_update(replay: Host, state: OpState) -> RunBlocked | None:
    """Starts the handler of an update; returns why the loaded code can't handle it, if so."""
    answering: Answering | None = replay.answering
    handler = None if answering is None else answering.update(state)
    if handler is None:
        return no_handler(replay.run_id, state)
    if (why := handler.begin(replay, state)) is None:
        return None
    return RunBlocked("CODE_DECODE", state.at, str(handler.type), why, "make the type fit what was sent")


Running = dict[str, RunningUpdate]
"""Running update handlers by the path of their scope."""


_NO_SUCH = {"query": "CODE_NO_QUERY", "update": "CODE_NO_UPDATE"}


def no_such(kind: Literal["query", "update"], run_id: RunId, name: str, known: dict[str, Any]) -> NotFound:
    return NotFound(
        _NO_SUCH[kind],
        f"run {caller_id(run_id)} has no {kind} `{name}`",
        why=f"it has: {', '.join(sorted(known)) or 'none'}",
        fix=did_you_mean(name, sorted(known), f"add ctx.on_{kind}({name!r}, ...) to its workflow"),
    )


def _why(error: BaseException) -> str:
    return str(error) or type(error).__name__
