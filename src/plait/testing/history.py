"""Assertions on a run's log. They read the events like any other reader.

found = await history(handle)
found.assert_recorded_once()
assert found.types()[-1] == "run.completed"
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from plait.kernel.events import Recorded

from .flow_book import AFTER_THE_END, FlowBook

ENDS = frozenset({"run.completed", "run.failed", "run.cancelled"})
LATE = AFTER_THE_END | {
    "task.late",
    "message.queued",
    "child.compensable",
    "step.completed",
    "step.failed",
    "step.raw",
    "afl.continue.ignored",
}
"""Events that may follow the end: late results, and work that outlived the run."""


class HasEvents(Protocol):
    """A `Handle`, or a `SimRun`."""

    async def events(self) -> list[Recorded]: ...


async def history(handle: HasEvents) -> History:
    """The events of a run, for assertions."""
    return History(await handle.events())


class History:
    """The events of one run, in order."""

    def __init__(self, events: list[Recorded]) -> None:
        self.events = events

    def __iter__(self) -> Iterator[Recorded]:
        return iter(self.events)

    def __len__(self) -> int:
        return len(self.events)

    def __str__(self) -> str:
        """The log as text, one event per line."""
        return "\n".join(f"{event.seq:4} {event.at} {event.type} {event.data}" for event in self.events)

    def types(self) -> list[str]:
        """The types of all events, in order."""
        return [event.type for event in self.events]

    def of(self, type: str) -> list[dict[str, Any]]:
        """The data of the events of one type, in order."""
        return [event.data for event in self.events if event.type == type]

    def at(self, path: str) -> list[Recorded]:
        """The events of one operation."""
        return [event for event in self.events if event.data.get("at") == path]

    def since(self, type: str) -> History:
        """The events after the last one of a type; all events if there is none."""
        last = max((index for index, event in enumerate(self.events) if event.type == type), default=-1)
        return History(self.events[last + 1 :])

    @property
    def ended(self) -> bool:
        facts = [event.type for event in self.events if event.type not in LATE]
        return bool(facts) and facts[-1] in ENDS

    @property
    def outcome(self) -> str:
        """How the run last ended: `completed`, `failed` or `cancelled`; empty if it has not ended."""
        if not self.ended:
            return ""
        return next(event.type for event in reversed(self.events) if event.type in ENDS).removeprefix("run.")

    # -- assertions ----------------------------------------------------------------------------------------------

    def assert_recorded_once(self) -> None:
        """The log has no gap and no duplicate: each operation is opened and closed once (a retry or a rewind of the run
        opens it again), each branch ends once, each message is queued and taken once, and there is one end."""
        book = _Book()
        for expected, event in enumerate(self.events, start=1):
            if event.seq != expected:
                raise AssertionError(f"event {expected} is missing: the log goes on with {event.seq}\n{self}")
            trouble = book.take(event)
            if trouble:
                raise AssertionError(f"event {event.seq}: {trouble}\n{self}")

    def assert_fits_its_code(self) -> None:
        """The run was never blocked: the code always matched the recorded history."""
        blocked = self.of("run.blocked")
        if blocked:
            raise AssertionError(f"the run was blocked: {blocked[0]['fix']}\n{self}")

    def assert_not_early(self) -> None:
        """No sleep ended and no retry started before its time."""
        due: dict[str, int] = {}
        flow = FlowBook()
        for event in self.events:
            at = event.data.get("at")
            if trouble := flow.early(event):
                raise AssertionError(f"event {event.seq}: {trouble}\n{self}")
            if event.type == "op.opened" and event.data["kind"] in ("sleep", "timer"):
                due[at or ""] = event.data["deadline"]
            elif (
                event.type == "op.closed"
                and event.data.get("status", "completed") == "completed"
                and event.at < due.pop(at or "", 0)
            ):
                raise AssertionError(f"`{at}` ended before its time: event {event.seq}\n{self}")


class _Book:
    """What has happened so far, to detect duplicates."""

    def __init__(self) -> None:
        self._open: set[str] = set()
        self._kinds: dict[str, str] = {}
        self._closed: set[str] = set()
        self._cancelled: set[str] = set()
        self._branches: set[tuple[str, str]] = set()
        self._queued: set[str] = set()
        self._consumed: set[str] = set()
        self._published: set[tuple[str, str, int]] = set()
        self._ended = False
        self._flow = FlowBook()

    def take(self, event: Recorded) -> str | None:
        data = event.data
        if trouble := self._flow.take(event):
            return trouble
        if event.type in ENDS:
            was, self._ended = self._ended, True
            return "the run ended twice" if was else None
        if self._ended and event.type != "run.reopened" and event.type not in LATE:
            return f"{event.type} after the end"
        match event.type:
            case "op.opened":
                return self._opened(data["at"], data["kind"])
            case "op.closed":
                return self._closed_op(data)
            case "branch.closed":
                return self._branch(data["at"], data["branch"])
            case "message.queued":
                return self._message(data["id"])
            case "update.opened":
                return self._message(data["id"]) or self._opened(data["at"], "update")
            case "update.closed":
                return self._closed_op({"at": data["at"]})
            case "published":
                return self._published_value(data["at"], data["key"], data["n"])
            case "run.reopened":
                self._ended = False
            case "run.recovered":
                self._reset(data["reset"], data.get("spare", ()))
            case "run.rewound":
                self._rewind(data["state"])
            case "run.continued":
                self._begin_anew()
            case "run.forked":  # messages stay behind, and children in flight start again
                self._open -= {at for at in self._open if self._kinds.get(at) == "child"}
                self._queued.clear()
                self._consumed.clear()
            case _:
                pass
        return None

    def _opened(self, at: str, kind: str) -> str | None:
        if at in self._open or at in self._closed:
            return f"`{at}` was opened twice"
        self._kinds[at] = kind
        if kind != "version":  # answered in the decision that asks; never closed
            self._open.add(at)
        return None

    def _closed_op(self, data: dict[str, Any]) -> str | None:
        at = data["at"]
        if data.get("status") == "cancelled" and data.get("messages"):
            return self._give_back(at, data["messages"])
        if at not in self._open:
            return f"`{at}` was closed {'twice' if at in self._closed else 'but never opened'}"
        self._open.remove(at)
        self._closed.add(at)
        if data.get("status") == "cancelled":
            self._cancelled.add(at)
        for id in data.get("messages") or ():
            if id not in self._queued:
                return f"`{at}` took message {id}, which never came"
            if id in self._consumed:
                return f"message {id} was taken twice"
            self._consumed.add(id)
        return None

    def _give_back(self, at: str, ids: list[str]) -> str | None:
        """A listener that was cancelled before it received what it had taken."""
        if at not in self._closed or not self._consumed.issuperset(ids):
            return f"`{at}` gave back {ids}, which it had not taken"
        self._consumed.difference_update(ids)
        self._cancelled.add(at)
        return None

    def _branch(self, at: str, branch: str) -> str | None:
        if (at, branch) in self._branches:
            return f"branch `{branch}` of `{at}` ended twice"
        self._branches.add((at, branch))
        return None

    def _message(self, id: str) -> str | None:
        if id in self._queued:
            return f"message {id} was queued twice"
        self._queued.add(id)
        return None

    def _published_value(self, at: str, key: str, n: int) -> str | None:
        if (at, key, n) in self._published:
            return f"value {n} of `{key}` was published twice in `{at}`"
        self._published.add((at, key, n))
        return None

    def _begin_anew(self) -> None:
        """Names are used again; messages that were sent are not sent again."""
        self._open.clear()
        self._closed.clear()
        self._cancelled.clear()
        self._branches.clear()
        self._published.clear()

    def _reset(self, paths: list[str], spare: Sequence[str]) -> None:
        for path in paths:
            self._closed.discard(path)
            self._cancelled.discard(path)
            self._open.add(path)
            self._branches = {place for place in self._branches if place[0] != path}
        unwanted = (self._open | self._cancelled) & set(spare)  # may be opened again, unless they have a result
        self._open -= unwanted
        self._closed -= unwanted
        self._cancelled -= unwanted

    def _rewind(self, state: dict[str, Any]) -> None:
        """The run is back in its earlier state, but messages sent to it stay sent."""
        ops: list[dict[str, Any]] = state["ops"]
        found = {op["at"]: op["kind"] for op in ops if op.get("status", "open") == "open"}
        self._closed = {op["at"] for op in ops} - set(found)
        self._cancelled = {op["at"] for op in ops if op.get("status") == "cancelled"}
        self._open = {at for at, kind in found.items() if kind not in ("version", "child")}  # children start again
        self._branches = {(op["at"], name) for op in ops for name in _ended_branches(op)}
        self._published = {
            (at, key, n) for at, keys in state.get("published", {}).items() for key in keys for n in range(keys[key])
        }
        self._consumed = {message["id"] for op in ops for message in op.get("received") or ()}


def _ended_branches(op: dict[str, Any]) -> list[str]:
    branches: dict[str, dict[str, Any]] = op.get("branches") or {}
    return [name for name, branch in branches.items() if branch.get("status", "open") != "open"]
