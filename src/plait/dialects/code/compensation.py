"""Finding and calling rollback handlers.

A handler that is a `@step` of a module is found by its name. Any other is known only to the workflow's
code: the function is replayed against its history, entering every body that has ended and starting
nothing, to see which handlers it registers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from plait.clusters.remote import imported
from plait.kernel.failures import describe
from plait.kernel.ids import Millis, TaskToken
from plait.kernel.task import CALL, Policy, Task

from .context import entry
from .definition import is_step
from .history import History
from .host import Surroundings
from .location import token_of
from .op_state import INLINE, Undoable, place_in
from .options import Options
from .path_words import path_words
from .registry import AnyWorkflow
from .replay import Replay
from .steps import UndoCall, rollback_unbound

UNDO = "~undo/"

Handlers = dict[str, tuple[Any, Any]]
"""By path: the handler, and the type of the result it receives."""


class Undoing:
    def __init__(self, history: History, around: Surroundings, definition: Callable[[], AnyWorkflow | None]) -> None:
        self._history = history
        self._around = around
        self._definition = definition

    def tasks(self, known: Handlers, now: Millis) -> list[Task]:
        """The rollback tasks of all completed steps, in order of completion."""
        records = sorted(self._history.undoables.values(), key=lambda record: record.order)
        handlers = self._handlers(records, known, now)
        return [self._task(record, *handlers.get(self._place(record), (None, Any))) for record in records]

    def _place(self, record: Undoable) -> str:
        return place_in(self._history.era, record)

    def collect(self, now: Millis) -> Replay | None:
        """A replay that has entered every body. It knows handlers and types, and can't act any more."""
        definition = self._definition()
        if definition is None:
            return None
        history = self._history
        listener = history.on_closed
        replay = Replay(definition, history, self._around, _ignore, _ignore, collecting=True)
        try:
            replay.start(entry(definition, history.input), now)
        except (msgspec.DecodeError, TypeError, ValueError):
            return None  # code that does not accept the run's input can't name its handlers
        replay.evict()
        history.on_closed = listener
        return replay

    def _handlers(self, records: list[Undoable], known: Handlers, now: Millis) -> Handlers:
        found = dict(known)
        named = {self._place(record): imported(record.handler) for record in records if record.handler != INLINE}
        if any(named.get(place) is None and place not in found for place in map(self._place, records)):
            collected = self.collect(now)
            found = found if collected is None else collected.handlers | found
        for record in records:
            if (handler := named.get(self._place(record))) is not None:
                found[self._place(record)] = (handler, returns_of(record.fn))
        return found

    def _task(self, record: Undoable, handler: Any, returns: Any) -> Task:
        definition = self._definition()
        options = definition.options if definition is not None else Options()
        if is_step(handler):
            options = options.under(handler.given)
        history, place = self._history, self._place(record)
        return Task(
            TaskToken(UNDO + (token_of(place, history.generation) if place == record.at else place)),
            f"rollback of `{path_words(record.at)}`",
            CALL,
            UndoCall(handler, returns, record, history.rollback_error),
            Policy(options.retry, options.timeout),
            f"{self._around.info.run_id}:{place}:{history.generation}:undo",
            record.at,
            unbound=None if handler is not None else describe(rollback_unbound(record.at), kind="blocked"),
        )


def returns_of(fn: str | None) -> Any:
    found = imported(fn) if fn else None
    return found.returns if is_step(found) else Any


def _ignore(_: object) -> None:
    return None
