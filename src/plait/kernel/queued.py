"""Tasks on queues, as rows: what an owner enqueues, and what a worker of any process claims.

A row exists exactly as long as its attempt is in flight: it is written by the decision that opens the attempt, and
deleted together with the result that ends it, or by the decision that revokes it. `opening` is the number of the event
that recorded it, so it is never reused in a run: it distinguishes a result of this row from that of any other, even if
a reopened run counts its attempts from one again.

A worker holds a row by a claim while its lease lasts. Leases are judged by the database's clock; a worker never sends a
time, so its clock does not matter.
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
"""Added to a task's timeout: a worker that stops its attempt in time should report that itself."""


class Terms(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """The parts of a task's policy that a worker needs to judge a failure. The owner handles retries."""

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
    """The function it calls, if its kind has any; workers may claim certain handlers only."""
    label: str
    node: str
    key: str
    """The idempotency key, equal on all attempts."""
    input: bytes
    blobs: str | None = None
    """Parts of the input kept as blobs; see `task_payload`."""
    timeout: Millis | None = None
    heartbeat: Millis | None = None
    terms: Terms = Terms()
    progress: Raw = NULL
    """The last progress of the previous attempt."""
    enqueued_at: Millis = Millis(0)
    priority: int = 0
    """Priority that its run was started with: lower first, then by arrival."""
    partition: str = ""
    """The key by which a partitioned queue counts limits."""
    code: str = ""
    """Code name: engines that have it may claim the task as workers do. Written, never read back."""


class Claim(msgspec.Struct, frozen=True, gc=False):
    """A worker's hold on a row. It includes the attempt, because a result must not end the row of another attempt."""

    run_id: RunId
    token: TaskToken
    id: str
    opening: int
    attempt: int


class HeldTask(msgspec.Struct, frozen=True, gc=False):
    """A row with its holder."""

    task: QueuedTask
    claim: str | None = None
    worker: str | None = None
    claimed_at: Millis | None = None
    lease: Millis | None = None


class ClaimRequest(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    claim: str
    """The id given to the resulting claims."""
    namespace: str
    queues: Sequence[str]
    worker: str
    limit: int
    lease: Millis
    kinds: Sequence[str] | None = None
    handlers: Sequence[str] | None = None
    """None: any handler."""
    code: Sequence[str] | None = None
    """Code names, for an engine: it claims tasks that need one of these, in any namespace and queue. Only stores with a
    fleet support it."""


Expiry = Literal["lease", "heartbeat", "timeout"]


class ExpiredClaim(msgspec.Struct, frozen=True, gc=False):
    run_id: RunId
    token: TaskToken
    opening: int
    worker: str
    why: Expiry
    """`lease`: the worker is gone. `heartbeat`: the task's own heartbeat limit passed without one."""
    progress: Raw = NULL


class Expired(msgspec.Struct, frozen=True, gc=False):
    claims: Sequence[ExpiredClaim]
    any_left: bool
    """Whether any task of these shards is queued or claimed; otherwise polling can stop."""


class SeenWorker(msgspec.Struct, frozen=True, gc=False):
    """A worker that polled for tasks recently."""

    queue: str
    worker: str
    seen_at: Millis


class QueueLength(msgspec.Struct, frozen=True, gc=False):
    namespace: str
    queue: str
    waiting: int
    claimed: int
    """Tasks claimed by workers."""


class TaskQueues(Protocol):
    """The part of a store that workers use. Owners' writes, and results, go through `Store.commit`."""

    async def claim(self, request: ClaimRequest) -> list[HeldTask]:
        """Claims up to `limit` free tasks for a worker: queue by queue, oldest first within a priority, within the
        queues' limits. No task is given to two workers."""
        ...

    async def limited(self, namespace: str, queues: Sequence[str]) -> bool:
        """Whether any of these queues has limits: a task may be free and still have to wait. May be slightly stale."""
        ...

    async def unclaimed(self) -> list[tuple[str, str]]:
        """Queues with free tasks, as (namespace, name)."""
        ...

    async def lengths(self) -> list[QueueLength]:
        """Queues with tasks, free or claimed."""
        ...

    async def beat(self, claim: Claim, progress: Raw | None) -> bool:
        """Renews a claim and stores the attempt's progress; False if the claim is no longer valid."""
        ...

    async def release(self, claim: Claim) -> bool:
        """Returns a task to its queue, for the same attempt by another worker; False if the claim is no longer
        valid."""
        ...

    async def held(self, run_id: RunId, token: TaskToken | None = None) -> list[HeldTask]:
        """The rows of a run, or of one of its tasks."""
        ...

    async def expired(self, shards: Collection[Shard], limit: int) -> Expired: ...

    async def note_worker(self, namespace: str, queues: Collection[str], worker: str) -> None:
        """Records that a worker polled for tasks, for a while."""
        ...

    async def workers(self, namespace: str, within: Millis) -> list[SeenWorker]:
        """Workers that polled recently."""
        ...
