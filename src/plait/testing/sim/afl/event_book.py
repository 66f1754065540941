"""Checks what the log of a program's run may contain only once: each step is created once and moves on from its current
state, and each AFL event is created once and ends once. A reopened step continues from where it failed."""

from __future__ import annotations

from typing import Any

from plait.dialects.afl.running.states import CATCH_BEGIN, CREATED, ERROR, TERMINAL
from plait.kernel.events import Recorded

_ENDS = frozenset({"afl.event.completed", "afl.event.error", "afl.event.withdrawn"})


class EventBook:
    def __init__(self) -> None:
        self._seq = 0
        self._iteration = 0
        self._states: dict[str, str] = {}
        """The states of all steps."""
        self._began: dict[str, str] = {}
        """Steps changed in this iteration, with their state at its start."""
        self._events: dict[str, bool] = {}
        """Whether each event is open."""
        self.done: list[tuple[str, str]] = []
        """Facets and ids of completed events, in order."""
        self._facets: dict[str, str] = {}

    def take(self, event: Recorded) -> str | None:
        """Returns what is wrong with an event, given the ones before it."""
        self._seq += 1
        if event.seq != self._seq:
            return f"event {self._seq} is missing"
        data = event.data
        match event.type:
            case "afl.step.created":
                return self._created(data["step"]["id"])
            case "afl.step.moved":
                return self._moved(data["step_id"], data["source"], data["to"])
            case "afl.step.failed":
                return self._changed(data["step_id"], ERROR)
            case "afl.step.caught":
                return self._changed(data["step_id"], CATCH_BEGIN)
            case "afl.step.reopened":
                return self._reopened(data["step_id"], data["state"])
            case "afl.event.created":
                return self._opened(data["event"])
            case type if type in _ENDS:
                return self._ended(type, data["event_id"])
            case "afl.iteration":
                return self._next(data["n"])
            case _:
                return None

    def left(self) -> list[str]:
        """Steps that have not ended, and open events."""
        steps = [id for id, state in self._states.items() if state not in TERMINAL]
        return steps + [id for id, is_open in self._events.items() if is_open]

    def _created(self, id: str) -> str | None:
        if id in self._states:
            return f"step {id} was created twice"
        self._states[id] = self._began[id] = CREATED
        return None

    def _moved(self, id: str, source: str, to: str) -> str | None:
        state = self._began.get(id, self._states[id])
        if state in TERMINAL or source != state:
            return f"step {id} moved from {source}, but was in {state}"
        return self._changed(id, to)

    def _changed(self, id: str, to: str) -> str | None:
        state = self._states[id]
        if state in TERMINAL:
            return f"step {id} is changed after it has ended"
        self._began.setdefault(id, state)
        self._states[id] = to
        return None

    def _reopened(self, id: str, to: str) -> str | None:
        if self._states[id] != ERROR:
            return f"step {id} was reopened in {self._states[id]}"
        self._states[id] = to
        return None

    def _opened(self, event: dict[str, Any]) -> str | None:
        id = event["event_id"]
        if id in self._events:
            return f"AFL event {id} was created twice"
        self._events[id] = True
        self._facets[id] = event["event_type"]
        return None

    def _ended(self, type: str, id: str) -> str | None:
        if not self._events.get(id):
            return f"AFL event {id} ended, but is not open"
        self._events[id] = False
        if type == "afl.event.completed":
            self.done.append((self._facets[id], id))
        return None

    def _next(self, number: int) -> str | None:
        self._began.clear()
        self._iteration += 1
        return None if number == self._iteration else f"iteration {number} came after {self._iteration - 1}"
