"""Checks what the log of a `refs` run may contain only once: each step, and each iteration, starts once and ends once.
A retry may repeat what it restarts."""

from __future__ import annotations

from typing import Any

from plait.dialects.refs.running.state import split_id, work_id
from plait.kernel.events import Recorded

ENDS = frozenset({"step.completed", "step.failed", "step.skipped"})


class StepBook:
    def __init__(self, undoable: set[str]) -> None:
        self._undoable = undoable
        self._started: set[str] = set()
        self._settled: set[str] = set()
        self._done: list[str] = []
        """Work that can be compensated, in the order of its completion."""
        self.undone: set[str] = set()
        """Work that was compensated and not done again."""
        self._loops: set[str] = set()
        """Steps with iterations, which complete and are compensated one by one."""
        self._seq = 0

    def take(self, event: Recorded) -> str | None:
        """Returns what is wrong with an event, given the ones before it."""
        self._seq += 1
        if event.seq != self._seq:
            return f"event {self._seq} is missing"
        data = event.data
        match event.type:
            case "step.started":
                return self._once(self._started, _id(data), "was started twice")
            case type if type in ENDS:
                return self._ended(event.type, data)
            case "foreach.opened":
                self._loops.add(data["step"])
            case "refs.resumed":
                for id in [*data["rerun"], *data.get("recomputed", ())]:
                    self._anew(id)
            case "rollback.step" if data["status"] == "completed":
                return self._undone(data["at"])
            case _:
                pass
        return None

    @property
    def owed(self) -> list[str]:
        """Work that was done and not compensated."""
        return self._done

    def _ended(self, type: str, data: dict[str, Any]) -> str | None:
        id = _id(data)
        if type == "step.completed" and data["step"] in self._undoable and not data.get("preset"):
            self._done += [id] if id not in self._loops else []
            self.undone.discard(id)
        return self._once(self._settled, id, "ended twice")

    def _undone(self, token: str) -> str | None:
        """Newest first."""
        id = token.partition(":")[2].rpartition("/")[0]
        if not self._done or self._done[-1] != id:
            return f"`{id}` was undone, but {self._done} were to be, newest first"
        self.undone.add(self._done.pop())
        return None

    def _anew(self, id: str) -> None:
        name, index = split_id(id)
        again = {id, name} if index is not None else {each for each in self._settled if split_id(each)[0] == name}
        self._started -= again | {id}
        self._settled -= again | {id}

    def _once(self, seen: set[str], id: str, trouble: str) -> str | None:
        if id in seen:
            return f"`{id}` {trouble}"
        seen.add(id)
        return None


def _id(data: dict[str, Any]) -> str:
    return work_id(data["step"], data.get("index"))
