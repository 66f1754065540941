"""Waiting callers: for a run to be on disk, for the reply to an input, for a run to end."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable
from typing import Any

import msgspec
from msgspec import Raw

from . import values
from .errors import ErrorInfo, PlaitError
from .events import RunCancelled, RunCompleted, RunFailed
from .ids import SHARDS, RunId, Shard, shard_of
from .loader import recorded
from .run import Run, cancelled
from .store import Store, Taken, Verdict
from .view import RunStatus


class Callers:
    def __init__(self, store: Store) -> None:
        self.starts = Starts()
        self.replies = Replies(store)
        self.outcomes = Outcomes(store)

    def abandon(self, error: PlaitError) -> None:
        """Fails all waiting callers."""
        self.starts.abandon(error)
        self.replies.abandon(error)
        self.outcomes.abandon(error)


class Starts:
    """Callers whose new run is not yet on disk."""

    def __init__(self) -> None:
        self.waiting: dict[RunId, asyncio.Future[Verdict]] = {}

    def expect(self, run_id: RunId) -> asyncio.Future[Verdict]:
        found = self.waiting[run_id] = asyncio.get_running_loop().create_future()
        return found

    def came(self, run_id: RunId, verdict: Verdict) -> bool:
        """Completes a start; False if nobody waits for it."""
        found = self.waiting.pop(run_id, None)
        if found is not None and not found.done():
            found.set_result(verdict)
        return found is not None

    def failed(self, run_id: RunId, error: PlaitError) -> bool:
        """Fails a start; False if nobody waits for it."""
        found = self.waiting.pop(run_id, None)
        if found is not None and not found.done():
            found.set_exception(error)
        return found is not None

    def abandon(self, error: PlaitError) -> None:
        for run_id in list(self.waiting):
            self.failed(run_id, error)


class Replies:
    """Callers that wait for the reply to an input they sent."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: dict[tuple[RunId, str], list[asyncio.Future[Taken]]] = {}
        """Each caller has its own future: one that gives up does not affect another with the same key."""

    async def reply(self, run_id: RunId, key: str) -> Taken:
        """Waits until the run's owner, here or in another process, has replied to the input with this key."""
        future: asyncio.Future[Taken] = asyncio.get_running_loop().create_future()
        waiting = self._waiting.setdefault((run_id, key), [])
        waiting.append(future)
        try:
            found = await self._store.reply(run_id, key)
            return found if found is not None else await future
        finally:
            waiting.remove(future)
            if not waiting:
                del self._waiting[run_id, key]

    def came(self, run_id: RunId, taken: Taken) -> None:
        if taken.later:
            return
        for future in self._waiting.get((run_id, taken.key), ()):
            if not future.done():
                future.set_result(taken)

    async def look(self) -> None:
        """Checks the store for replies by owners in other processes."""
        for run_id, key in list(self._waiting):
            taken = await self._store.reply(run_id, key)
            if taken is not None:
                self.came(run_id, taken)

    def abandon(self, error: Exception) -> None:
        for waiting in self._waiting.values():
            _fail(waiting, error)


class Outcome(msgspec.Struct, frozen=True, gc=False):
    """A run's result: ended, or blocked until someone acts."""

    status: RunStatus
    output: Raw | None = None
    error: ErrorInfo | None = None
    blocked: ErrorInfo | None = None


class Outcomes:
    """Callers that wait for runs to end."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.waiting: dict[RunId, list[asyncio.Future[Outcome | None]]] = {}
        self._abandoned: Exception | None = None

    async def outcome(self, run_id: RunId, *, look_first: bool) -> Outcome:
        """Waits for the end. `look_first=False` skips the first read of the store for a run known to be in progress."""
        while True:
            if self._abandoned is not None:  # abandoned during the read: nothing would report the end any more
                raise self._abandoned
            future: asyncio.Future[Outcome | None] = asyncio.get_running_loop().create_future()
            waiting = self.waiting.setdefault(run_id, [])
            waiting.append(future)
            try:
                found = (await self._standing(run_id) if look_first else None) or await future
            finally:
                if self.waiting.get(run_id) is waiting:  # otherwise all of them were notified
                    waiting.remove(future)
                    if not waiting:
                        del self.waiting[run_id]
            if found is not None:
                return found
            look_first = True

    def notify(self, run_id: RunId, outcome: Outcome | None) -> None:
        """Notifies all callers; None: the run may have changed elsewhere, so read it again."""
        for future in self.waiting.pop(run_id, ()):
            if not future.done():
                future.set_result(outcome)

    def look_again(self, shards: Collection[Shard]) -> None:
        pools = any(shard >= SHARDS for shard in shards)  # ids don't show which runs are in a pool
        for run_id in list(self.waiting):
            if pools or shard_of(run_id) in shards:
                self.notify(run_id, None)

    def abandon(self, error: Exception) -> None:
        self._abandoned = error
        for waiting in self.waiting.values():
            _fail(waiting, error)

    async def _standing(self, run_id: RunId) -> Outcome | None:
        row = await self._store.run(run_id)
        if row is None or (row.status == "running" and row.blocked is None):
            return None
        output = row.output
        if row.status == "completed" and output is None:  # a large output is stored as a blob
            ends = [event for event in await recorded(self._store, run_id) if event.type == "run.completed"]
            output = Raw(values.plain(ends[-1].data.get("output")))
        return Outcome(row.status, output, row.error, row.blocked)


def _fail(waiting: Iterable[asyncio.Future[Any]], error: Exception) -> None:
    for future in waiting:
        if not future.done():
            future.set_exception(error)
            future.exception()  # marks it as retrieved: the caller may have given up already


def outcome_of(run: Run) -> Outcome | None:
    """The result of a run that was just committed; None if it continues."""
    final = run.state.final if run.state.status != "running" else None
    match final:
        case RunCompleted():
            return Outcome("completed", final.output)
        case RunFailed(error=error):
            return Outcome("failed", error=error)
        case RunCancelled() as final:
            return Outcome("cancelled", error=cancelled(final))
        case None:
            return Outcome("running", blocked=run.blocked) if run.blocked is not None else None
