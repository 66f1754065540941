"""Observers of an engine: metrics, traces, logs. The kernel notifies them and never waits for an answer.

Observers are called on the event loop in the middle of the work, so they must be quick. One that raises is logged once
and harms nothing else.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import ParamSpec, Protocol

from .errors import PlaitError
from .events import Event
from .ids import Millis
from .machine import RunInfo
from .task import Attempt

log = logging.getLogger("plait.kernel")

P = ParamSpec("P")
Around = Callable[[Attempt], AbstractContextManager[object]]


class Observer(Protocol):
    def committed(self, run: RunInfo, events: Sequence[Event], at: Millis) -> None:
        """A decision is on disk. It may have no events."""
        ...

    def attempting(self, attempt: Attempt) -> AbstractContextManager[object] | None:
        """An attempt starts. The returned context manager is entered around it, in a separate context: context
        variables set there are visible to the step, also in its thread. It gets the exception of a failed attempt, and
        `CancelledError` for one that is stopped or timed out."""
        ...

    def grouped(self, writes: int, seconds: float) -> None:
        """One group commit of so many writes took this long."""
        ...

    def lost(self, shards: int) -> None:
        """Another engine took over some of our shards."""
        ...

    def unavailable(self, error: PlaitError) -> None:
        """A store operation failed; it is retried."""
        ...


class Observers:
    """All observers as one."""

    def __init__(self, observers: Iterable[Observer] = ()) -> None:
        self._observers = list(observers)
        self._said: set[str] = set()
        self.any = bool(self._observers)
        self.around: Around | None = self._around if self._observers else None
        """None if no observer wants attempts."""

    def add(self, observer: Observer) -> None:
        """Adds an observer later: it is notified of commits from then on, but not of attempts, because their worker
        already exists."""
        self._observers.append(observer)
        self.any = True

    def __iter__(self) -> Iterator[Observer]:
        return iter(self._observers)

    def committed(self, run: RunInfo, events: Sequence[Event], at: Millis) -> None:
        for observer in self._observers:
            try:
                observer.committed(run, events, at)
            except Exception:
                self._complain(observer.committed.__qualname__)

    def grouped(self, writes: int, seconds: float) -> None:
        for observer in self._observers:
            try:
                observer.grouped(writes, seconds)
            except Exception:
                self._complain(observer.grouped.__qualname__)

    def lost(self, shards: int) -> None:
        for observer in self._observers:
            self._tell(observer.lost, shards)

    def unavailable(self, error: PlaitError) -> None:
        for observer in self._observers:
            self._tell(observer.unavailable, error)

    def _tell(self, method: Callable[P, None], *args: P.args, **kwargs: P.kwargs) -> None:
        try:
            method(*args, **kwargs)
        except Exception:
            self._complain(method.__qualname__)

    def _around(self, attempt: Attempt) -> AbstractContextManager[object]:
        found: list[AbstractContextManager[object]] = []
        for observer in self._observers:
            try:
                context = observer.attempting(attempt)
            except Exception:
                self._complain(type(observer).__qualname__)
            else:
                if context is not None:
                    found.append(context)
        if len(found) == 1:
            return found[0]
        stack = contextlib.ExitStack()
        for context in found:
            stack.enter_context(context)
        return stack

    def _complain(self, who: str) -> None:
        if who not in self._said:
            self._said.add(who)
            log.exception("an observer failed: %s; this is said once", who)
