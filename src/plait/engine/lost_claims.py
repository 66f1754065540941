"""Why a worker's claim on a task does not hold any more."""

from __future__ import annotations

from plait.kernel.errors import Conflict
from plait.kernel.queued import HeldTask


def lost(other: HeldTask | None) -> Conflict:
    """`other`: the row that is there in place of the one that was claimed."""
    return _settled() if other is None else lease_lost(other)


def lease_lost(other: HeldTask) -> Conflict:
    whose = "waits for a worker" if other.worker is None else f"is done by `{other.worker}`"
    return Conflict(
        "task.lease_lost",
        "this claim of the task is not valid any more",
        why=f"its lease ran out or it was released; attempt {other.task.attempt} {whose}",
        fix="stop working on it; its result is kept as a late one and changes nothing",
    )


def _settled() -> Conflict:
    return Conflict(
        "task.settled",
        "nobody waits for this task any more",
        why="it was cancelled, timed out, or has been reported already",
        fix="stop working on it; its result is kept as a late one and changes nothing",
    )
