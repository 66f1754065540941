"""The part of `ctx` that is no operation: identity and time; queries, updates and published values; continue-as-new."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from random import Random
from typing import Any, NoReturn
from uuid import UUID

from plait.kernel.errors import PlaitError
from plait.kernel.ids import Millis, caller_id
from plait.kernel.values import encode

from .answering import Answering
from .definition import checked_text
from .errors import ContinueAsNew, WorkflowCodeError
from .location import check_name
from .run_logger import RunLogger
from .scope import Scope


class BaseContext:
    """Whose code this is, what it answers to callers, and how it continues as new."""

    __slots__ = ("_replay", "_scope")

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._replay = scope.replay

    # -- who and when --------------------------------------------------------------------------------------------

    @property
    def run_id(self) -> str:
        return caller_id(self._replay.run_id)

    @property
    def namespace(self) -> str:
        return self._replay.around.info.namespace

    @property
    def path(self) -> str:
        """The path of the scope that this ctx belongs to; empty at the root."""
        return self._scope.path

    @property
    def labels(self) -> dict[str, str]:
        return dict(self._replay.around.info.labels)

    @property
    def deadline(self) -> datetime | None:
        found = self._replay.around.info.deadline
        return None if found is None else _datetime(found)

    def now(self) -> datetime:
        """The run's own time: when its last result arrived. The same on every replay."""
        return _datetime(self._replay.now)

    def random(self) -> Random:
        """A generator that yields the same numbers on every replay."""
        return self._scope.random()

    def uuid(self) -> UUID:
        """A UUID that is the same on every replay."""
        return self._scope.uuid()

    @property
    def log(self) -> RunLogger:
        """A logger in the style of `logging`; silent while recorded results are replayed."""
        return RunLogger(self._scope)

    # -- callers -------------------------------------------------------------------------------------------------

    def publish(self, key: str, value: Any) -> None:
        """Publishes a value for anyone to read: `handle.published(key)` returns the last, `handle.stream(key)` all of
        them. Recorded once, however often the run is replayed."""
        checked_text("the key of publish", key)
        try:
            raw = encode(value, max_bytes=self._replay.around.max_payload)
        except PlaitError as error:
            raise WorkflowCodeError("NOT_ENCODABLE", f"the value of publish `{key}`", why=str(error)) from None
        self._scope.check("publish", key)
        self._answering().publish(self._scope, key, raw)

    def on_query(self, name: str, fn: Callable[..., Any]) -> None:
        """Answers `handle.query(name, argument)` with what `fn(argument)` returns. It may only read: it has no ctx, and
        what it changes is discarded. A run that has ended answers too."""
        self._at_root("on_query", name).add_query(name, fn)

    def on_update(self, name: str, handler: Callable[..., Any], validator: Callable[..., Any] | None = None) -> None:
        """Lets `handle.update(name, body)` run `handler(ctx, body)` inside the workflow and return its result to the
        caller. `validator(body)` may raise to refuse the update before anything is recorded."""
        self._at_root("on_update", name).add_update(name, handler, validator)

    def _at_root(self, what: str, name: str) -> Answering:
        self._scope.check(what, check_name(what, name))
        if self._scope.path:
            fix = "call it in the workflow function itself, before the first thing that it waits for"
            raise WorkflowCodeError("WRONG_CTX", f"{what} `{name}` is called in {self._scope.label}", fix=fix)
        return self._answering()

    def _answering(self) -> Answering:
        if self._replay.answering is None:
            self._replay.answering = Answering(type(self))
        return self._replay.answering

    def continue_as_new(self, input: Any = None) -> NoReturn:
        """Restarts the run with another input and an empty history, for a run that would otherwise grow without end. It
        keeps its id, labels, deadline, parent, queued messages, and rollback handlers that are steps. Open operations
        are settled as at the end of a run; names can be reused."""
        self._scope.check("continue_as_new", "")
        if self._scope.path:
            what, fix = f"continue_as_new is called in {self._scope.label}", "call it in the workflow function itself"
            raise WorkflowCodeError("WRONG_CTX", what, fix=fix)
        try:
            raw = encode(input, max_bytes=self._replay.around.max_payload)
        except PlaitError as error:
            raise WorkflowCodeError("NOT_ENCODABLE", "the input to continue with", why=str(error)) from None
        raise ContinueAsNew(raw)

    def _needs_engine(self, what: str) -> None:
        if self._replay.around.embedded:
            raise WorkflowCodeError(
                "NEEDS_ENGINE",
                f"ctx.{what} needs an Engine",
                why="this run is embedded: run_workflow has no other runs, no people and no workers",
                fix="start it with Engine.start",
            )


def _datetime(at: Millis) -> datetime:
    return datetime.fromtimestamp(at / 1000, UTC)
