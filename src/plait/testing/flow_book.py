"""Checks what the log of a goals run may contain only once: a step starts and ends once, so does each of its items, and
each output is given once. Steps that a resumed run restarts may repeat this."""

from __future__ import annotations

from typing import Any

from plait.kernel.events import Recorded

AFTER_THE_END = frozenset(
    {
        "work_accepted",
        "work_returned",
        "work_succeeded",
        "work_failed",
        "attribute_set",
        "step_completed",
        "step_failed",
        "late_result",
        "flow_deactivated",
    }
)
"""Events of work that was in flight at the outcome."""

_STEP_ENDS = ("step_completed", "step_failed", "step_skipped")
_ITEM_ENDS = ("work_succeeded", "work_failed")


class FlowBook:
    def __init__(self) -> None:
        self._started: set[str] = set()
        self._ended: set[str] = set()
        self._done: dict[str, str] = {}
        """Items that ended, with their steps."""
        self._given: set[tuple[str, str]] = set()
        self._due: dict[str, int] = {}
        """The earliest time for each retry and each input that is waited for."""

    def take(self, event: Recorded) -> str | None:
        """Returns what is wrong with an event, given the ones before it."""
        data = event.data
        match event.type:
            case "step_started":
                return _once(self._started, data["step_id"], "was started twice")
            case "attribute_set":
                given = (data["name"], data["provider"])
                return None if given[1] == "patch" else _once(self._given, given, "was given twice")
            case "work_started" if data["token"] in self._done:
                return f"`{data['token']}` was begun after it had ended"
            case "flow_resumed":
                self._resumed(set(data["steps"]))
            case type if type in _STEP_ENDS:
                return _once(self._ended, data["step_id"], "ended twice")
            case type if type in _ITEM_ENDS:
                if data["token"] in self._done:
                    return f"`{data['token']}` ended twice"
                self._done[data["token"]] = data["step_id"]
            case _:
                pass
        return None

    def early(self, event: Recorded) -> str | None:
        """Returns what continued too early."""
        data = event.data
        match event.type:
            case "task.retry_scheduled":
                self._due[data["token"]] = data["due"]
            case "input_waited":
                self._due[f"{data['step_id']} {data['name']}"] = data["until"]
            case "flow_resumed":
                self._due.clear()  # waits start again
            case "work_started" if event.at < self._due.pop(data["token"], 0):
                return f"`{data['step_id']}` was tried again before its time"
            case "input_closed" if event.at < self._due.pop(f"{data['step_id']} {data['name']}", 0):
                return f"`{data['step_id']}` stopped waiting for `{data['name']}` before its time"
            case _:
                pass
        return None

    def _resumed(self, steps: set[str]) -> None:
        self._started -= steps
        self._ended -= steps
        self._given = {given for given in self._given if given[1] not in steps}
        self._done = {token: step_id for token, step_id in self._done.items() if step_id not in steps}


def _once(seen: set[Any], what: Any, trouble: str) -> str | None:
    if what in seen:
        return f"`{what}` {trouble}"
    seen.add(what)
    return None
