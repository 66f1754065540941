"""Tasks on queues, as rows: what an owner enqueues, and what a worker of any process claims.

A row exists exactly as long as its attempt is under way: it is written by the decision that opens the attempt, and
deleted together with the result that ends it, or by the decision that revokes it. `opening` is the number of the
event that recorded it, so it is never used twice in a run: it tells a result of this row from that of any other,
even if a run that was reopened counts its attempts from one again.

A worker holds a row by a claim, for as long as its lease lasts. Leases are judged by the database's clock; a worker
never sends a time, so its clock does not matter.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Literal, Protocol

import msgspec
from msgspec import Raw

from .ids import Millis, RunId, Shard, TaskToken
from .values import NULL

QUEUE_NAME = r"[A-Za-z0-9_][A-Za-z0-9_.:-]{0,199}"
QUEUE_RULE = "use letters, digits, `_`, `.`, `:`, `-`; at most 200"
is_queue = re.compile(QUEUE_NAME).fullmatch
TIMEOUT_GRACE = Millis(1_000)
"""Beyond a task's timeout: a worker that stops its attempt in time should be the one to report it."""


class Terms(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What a worker needs to know of a task's policy to judge a failure. Retries are the owner's business."""

    retry_on_timeout: bool = False
    never: list[str] = []
    """Exceptions that are final at once, as `module:name`."""


class QueuedTask(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    run_id: RunId
    shard: Shard
    namespace: str
    token: TaskToken
    opening: int
    attempt: int
    queue: str
    kind: str
    handler: str
    """The function that it calls, where its kind has such; workers may ask for some only."""
    label: str
    node: str
    key: str
    """The idempotency key, equal on all attempts."""
    input: bytes
    blobs: str | None = None
    """Parts of the input that are kept as blobs; see `task_payload`."""
    timeout: Millis | None = None
    heartbeat: Millis | None = None
    terms: Terms = Terms()
    progress: Raw = NULL
    """What the attempt before this one last reported."""
    enqueued_at: Millis = Millis(0)
    priority: int = 0
    """Lower first, then arrival; as its run was started with."""
    partition: str = ""
    """The key that limits of a partitioned queue are counted by."""
    code: str = ""
    """Engines that have it may claim it as workers do; written, and not read again."""


class Claim(msgspec.Struct, frozen=True, gc=False):
    """A worker's hold on a row. It names the attempt, too: a result must not end a row whose attempt it is not of."""

    run_id: RunId
    token: TaskToken
    id: str
    opening: int
    attempt: int


class HeldTask(msgspec.Struct, frozen=True, gc=False):
    """A row, and who holds it."""

    task: QueuedTask
    claim: str | None = None
    worker: str | None = None
    claimed_at: Millis | None = None
    lease: Millis | None = None


class ClaimRequest(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    claim: str
    """The id of the claims that it leads to."""
    namespace: str
    queues: Sequence[str]
    worker: str
    limit: int
    lease: Millis
    kinds: Sequence[str] | None = None
    handlers: Sequence[str] | None = None
    """None: whatever there is."""
    code: Sequence[str] | None = None
    """Of an engine: tasks with one of these, of any namespace and queue. Only stores with a fleet know them."""


Expiry = Literal["lease", "heartbeat", "timeout"]


class ExpiredClaim(msgspec.Struct, frozen=True, gc=False):
    run_id: RunId
    token: TaskToken
    opening: int
    worker: str
    why: Expiry
    """lease: the worker is gone. heartbeat: the task wants one more often than that, and none came."""
    progress: Raw = NULL


class Expired(msgspec.Struct, frozen=True, gc=False):
    claims: Sequence[ExpiredClaim]
    any_left: bool
    """Whether any task of these shards is queued or claimed: else there is nothing to look for."""


class SeenWorker(msgspec.Struct, frozen=True, gc=False):
    """A worker that asked for tasks lately."""

    queue: str
    worker: str
    seen_at: Millis


class QueueLength(msgspec.Struct, frozen=True, gc=False):
    namespace: str
    queue: str
    waiting: int
    claimed: int
    """By workers that are at them."""


class TaskQueues(Protocol):
    """The part of a store that workers use. What an owner writes, and results, go through `Store.commit`."""

    async def claim(self, request: ClaimRequest) -> list[HeldTask]:
        """Gives up to `limit` free tasks to a worker: queue by queue, oldest first within a priority, as the limits of
        the queues allow. No task is given to two."""
        ...

    async def limited(self, namespace: str, queues: Sequence[str]) -> bool:
        """Whether any of them has limits: a task on it may be free and still have to wait. May be a moment behind."""
        ...

    async def unclaimed(self) -> list[tuple[str, str]]:
        """The queues that have free tasks, each as its namespace and its name."""
        ...

    async def lengths(self) -> list[QueueLength]:
        """The queues that have tasks, free or claimed."""
        ...

    async def beat(self, claim: Claim, progress: Raw | None) -> bool:
        """Renews a claim, and keeps how far the attempt got; False if the claim does not hold any more."""
        ...

    async def release(self, claim: Claim) -> bool:
        """Gives a task back, for the same attempt by another worker; False if the claim does not hold any more."""
        ...

    async def held(self, run_id: RunId, token: TaskToken | None = None) -> list[HeldTask]:
        """The rows of a run, or of one of its tasks."""
        ...

    async def expired(self, shards: Collection[Shard], limit: int) -> Expired: ...

    async def note_worker(self, namespace: str, queues: Collection[str], worker: str) -> None:
        """A worker asks for tasks, which is remembered for a while."""
        ...

    async def workers(self, namespace: str, within: Millis) -> list[SeenWorker]:
        """Those that asked lately."""
        ...
