"""Checks whether a worker's claim is still valid, and if not, why."""

from __future__ import annotations

from collections.abc import Collection

from plait.api.claim_id import ClaimId, unknown_task
from plait.kernel.errors import Conflict
from plait.kernel.kernel import Kernel
from plait.kernel.loader import recorded
from plait.kernel.queued import HeldTask


class ClaimChecks:
    """Checks of claims; `queues` are those the worker's key is for, None: all."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel

    async def row(self, claim: ClaimId) -> HeldTask | None:
        """The claimed row, or the one that replaced it."""
        found = await self._kernel.store.queues.held(claim.run_id, claim.token)
        return found[0] if found else None

    async def must_hold(self, claim: ClaimId) -> HeldTask:
        found = await self.row(claim)
        if found is None or (found.claim, found.task.opening) != (claim.claim, claim.opening):
            raise lost(found)
        return found

    async def must_serve(self, claim: ClaimId, queues: Collection[str] | None) -> None:
        """Raises unless the worker's key covers the queue: a claim's id alone is not enough. If there is no row, the
        log decides."""
        if queues is None or (found := await self.row(claim)) is None:
            return
        if found.task.queue not in queues:
            raise unknown_task()

    async def must_have_been(self, claim: ClaimId, queues: Collection[str] | None) -> None:
        """Raises unless the log has the claim as an attempt on a queue of this worker."""
        found = await recorded(self._kernel.store, claim.run_id, claim.opening - 1, upto=claim.opening)
        said = found[0].data if found and found[0].type == "task.queued" else {}
        if (said.get("token"), said.get("attempt")) != (claim.token, claim.attempt):
            raise unknown_task()
        if queues is not None and said.get("queue") not in queues:
            raise unknown_task()


def lost(other: HeldTask | None) -> Conflict:
    """The error for a lost claim. `other`: the row that replaced the claimed one."""
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
