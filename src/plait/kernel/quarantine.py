"""Quarantined runs: their machine raised, their decision can't be stored, or their log can't be read here.

Such a run is blocked in the store and dropped from memory. Its inputs stay where they are, in the inbox and among the
timers; when a new one arrives, all of them are delivered again, in order.
"""

from __future__ import annotations

from typing import Literal

from .failures import describe
from .ids import RunId, Shard, shard_of
from .ready_queue import ReadyQueue
from .replies import ASKED, refused
from .run_cache import Unreadable
from .sources import Sources
from .store import RunPatch, Write


class Quarantine:
    def __init__(self, queue: ReadyQueue, sources: Sources) -> None:
        self._queue = queue
        self._sources = sources
        self._runs: dict[RunId, Literal["writing", "wanted", "written"]] = {}

    def add(self, run_id: RunId, write: Write) -> None:
        """Quarantines a run; `write` blocks it in the store."""
        self._runs[run_id] = "writing"
        self._queue.owe(write)

    def written(self, run_id: RunId) -> None:
        """The store has it as blocked: only now may it be read again."""
        state = self._runs.get(run_id)
        if state is not None:
            self._runs[run_id] = "written"
            if state == "wanted":
                self.holds(run_id)

    def holds(self, run_id: RunId) -> bool:
        """Whether the run is in quarantine when an input arrives; if so, the input is redelivered after the earlier
        ones."""
        if not self._runs:
            return False
        state = self._runs.get(run_id)
        if state == "written":
            del self._runs[run_id]
            self._sources.redeliver(run_id)
        elif state is not None:
            self._runs[run_id] = "wanted"
        return state is not None

    def discard(self, run_id: RunId) -> None:
        self._runs.pop(run_id, None)

    def lost(self, shards: set[Shard]) -> None:
        """The new owner of these shards handles their runs."""
        self._runs = {run_id: state for run_id, state in self._runs.items() if shard_of(run_id) not in shards}


def unreadable(problem: Unreadable) -> Write:
    """The write that blocks the run with the reason, and replies to callers that wait for an answer."""
    run_id, row, error = problem.run_id, problem.row, problem.__cause__
    info = describe(error if error is not None else problem, kind="blocked")
    keys = [key for input, key in problem.held if key is not None and isinstance(input, ASKED)]
    shard = shard_of(run_id) if row is None else row.shard
    write = Write(run_id, shard, problem.epoch, taken=refused(run_id, info, keys))
    if row is not None and row.status == "running":
        write.patch = RunPatch(
            status="running", awake=row.awake, blocked=info, recoveries=row.recoveries, full=row.full
        )
    return write
