"""The contract of a store: what lasts, and who may write it.

A store keeps runs, their logs, snapshots, inboxes, timers, tasks on queues, approvals, dead letters and
blobs, and the leases of the shards. Everything that changes a run goes through `commit`, which takes
the writes of many runs and puts them to disk as one transaction. Each write is all or nothing and
gets its own verdict; a bad one never takes its neighbours down.

Ownership: a lease is (shard, epoch). `claim` raises the epoch of every shard it takes, so a write that
proves an older epoch is refused. Whether a lease has run out is judged by the database's clock.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Literal, Protocol

import msgspec
from msgspec import Raw

from .approval import Approval, ApprovalChange, ApprovalFilter
from .census import Census, Owner, Standing
from .errors import ErrorInfo
from .fleet import Fleet
from .ids import Epoch, Millis, RunId, Seq, Shard, TaskToken, caller_id
from .leases import Lease
from .past import Past
from .queued import Claim, QueuedTask, TaskQueues
from .record import Record, RecordChange
from .removal import Removals
from .run_queues import WAITING, QueuedRun, RunQueues
from .view import Phase, Reason, RunStatus

ShownStatus = Literal["running", "completed", "failed", "cancelled", "blocked", "waiting", "working"]
"""What people look for. A run that waits, works or is blocked is also running, and is one of the three."""
DeadLetterStatus = Literal["pending", "retried", "discarded"]
LineLevel = Literal["debug", "info", "warning", "error"]
SUBJECT = "subject"
"""The label that says whose values a run holds; children and forks inherit it."""


def own_subject(run_id: RunId) -> str:
    """Of a run with personal values that belong to no named subject: it has a key of its own, to be destroyed."""
    return f"run:{caller_id(run_id)}"


class RunRow(msgspec.Struct, kw_only=True, gc=False):
    id: RunId
    namespace: str
    dialect: str
    definition: str
    version: str | None = None
    shard: Shard
    status: RunStatus = "running"
    awake: bool = True
    """Has work under way that only its owner knows of: must be loaded when a shard changes hands."""
    parent: RunId | None = None
    parent_token: TaskToken | None = None
    depth: int = 0
    labels: dict[str, str] = {}
    start_hash: str = ""
    """Of definition and input: tells a repeated start from a conflicting one."""
    created_at: Millis = Millis(0)
    ended_at: Millis | None = None
    deadline: Millis | None = None
    output: Raw | None = None
    error: ErrorInfo | None = None
    blocked: ErrorInfo | None = None
    recoveries: int = 0
    full: bool = False
    """Too many messages wait for it: no more are taken."""
    waiting: Reason | None = None
    """Why it is parked, in a few words."""
    past: Past | None = None
    claimed: bool = False
    """Parked, but a worker is at one of its tasks: known where it is read, not written."""
    erased_at: Millis | None = None
    """When its values were destroyed; also known where it is read."""

    @property
    def queued(self) -> bool:
        """It waits on a queue, or did a moment ago: it has not started."""
        return self.waiting is not None and self.waiting.kind == WAITING

    @property
    def phase(self) -> Phase:
        if self.status != "running":
            return "ended"
        if self.blocked is not None:
            return "blocked"
        parked = not self.awake or self.waiting is not None
        return "waiting" if parked and not self.claimed else "running"


class RunPatch(msgspec.Struct, kw_only=True, gc=False):
    """The parts of a run's row that change; all of them are written."""

    status: RunStatus
    awake: bool
    ended_at: Millis | None = None
    output: Raw | None = None
    error: ErrorInfo | None = None
    blocked: ErrorInfo | None = None
    recoveries: int = 0
    full: bool = False
    waiting: Reason | None = None
    past: Past | None = None


COMPACTED = b'[{"type":"log.compacted"}]'


class LogRow(msgspec.Struct, frozen=True, gc=False):
    """The events of one decision: `count` of them, the first numbered `seq`, as a JSON array."""

    seq: Seq
    count: int
    at: Millis
    events: bytes
    blobs: str | None = None
    """JSON `{"<index>.<field>": hash}`: values of these events that are kept as blobs."""

    @property
    def is_compacted(self) -> bool:
        """It stands for `count` events that are no longer there."""
        return self.events == COMPACTED


class InboxRow(msgspec.Struct, frozen=True, gc=False):
    run_id: RunId
    shard: Shard
    key: str
    """The caller's id: the same key twice is one input. Those that begin with `~` are the kernel's own."""
    body: bytes
    at: Millis
    fallback: DeadLetter | None = None
    """If the run is unknown or has ended, keep this instead."""
    behind: bool = False
    """The run may still wait on a queue: its owner then gets this after its start. So does one with a fallback."""
    withdraws: bool = False
    """If the run still waits on a queue, it leaves it and takes no slot: its owner gets its start, and then this."""


class Taken(msgspec.Struct, frozen=True, gc=False):
    """An inbox row that was decided on, and what its sender gets back."""

    key: str
    reply: bytes | None = None
    later: bool = False
    """The answer follows with a later decision."""


class TimerRow(msgspec.Struct, frozen=True, gc=False):
    run_id: RunId
    shard: Shard
    token: TaskToken
    due: Millis


def refusal_key(child: RunId) -> str:
    """What the keys of all refusals of a child begin with, in the inbox of its parent."""
    return f"~child:{child}:refused:"


class ChildPlace(msgspec.Struct, frozen=True, gc=False):
    """A child run waits on a queue. It is not made while its parent has a refusal of it to take note of: what was
    refused a moment ago may be possible now, and the parent must not hear of both."""

    place: QueuedRun
    duplicate: InboxRow
    """What the parent gets instead of a child, if another run has its `dedup_id`."""
    announcement: InboxRow | None = None
    """What a parent gets at once that only waits for its child to be there."""


class NewChild(msgspec.Struct, frozen=True, gc=False):
    """A child run, made in its parent's commit. If its id belongs to another run, the parent gets `refusal`."""

    row: RunRow
    start: InboxRow
    refusal: InboxRow
    queueing: ChildPlace | None = None
    """Else it starts at once."""


class DeadLetter(msgspec.Struct, frozen=True, gc=False):
    id: str
    run_id: RunId
    namespace: str
    token: TaskToken
    label: str
    attempts: int
    error: ErrorInfo
    at: Millis
    status: DeadLetterStatus = "pending"


class Settled(msgspec.Struct, frozen=True, gc=False):
    id: str
    status: Literal["retried", "discarded"]


class Line(msgspec.Struct, frozen=True, gc=False):
    """What an attempt of a task said while it ran. Kept beside the log: no decision depends on it."""

    run_id: RunId
    node: str
    attempt: int
    at: Millis
    level: LineLevel
    text: str
    id: int = 0
    """Given by the store; grows within a run."""


class Snapshot(msgspec.Struct, frozen=True, gc=False):
    seq: Seq
    at: Millis
    body: bytes


class Compaction(msgspec.Struct, frozen=True, gc=False):
    """Events that a snapshot has made superfluous: one row, `COMPACTED`, takes the place of all up to one of them, but
    for those of the run's first decision."""

    upto: Seq
    at: Millis


class Write(msgspec.Struct, gc=False):
    """Everything one decision changes. With `epoch` None it comes from outside the owner and may only
    create a run, add to inboxes and end a task that a worker claimed."""

    run_id: RunId
    shard: Shard
    epoch: Epoch | None
    create: RunRow | None = None
    plain: bool = False
    """It has nothing but `create`, `log` and `patch`, as most writes: nobody need look for more."""
    log: LogRow | None = None
    patch: RunPatch | None = None
    blobs: Sequence[tuple[str, bytes]] = ()
    copies: Sequence[LogRow] = ()
    """Log rows of another run, for a fork."""
    shared: Sequence[str] = ()
    """Hashes of stored blobs that `copies` refer to. If one is gone, nothing is written."""
    taken: Sequence[Taken] = ()
    inbox: Sequence[InboxRow] = ()
    children: Sequence[NewChild] = ()
    timers: Sequence[TimerRow] = ()
    cleared: Sequence[TaskToken] = ()
    clear_all: bool = False
    """Drop every timer of the run before new ones are set."""
    approvals: Sequence[Approval | ApprovalChange] = ()
    """New ones and changes, in order: a token whose approval was closed may have a new one."""
    dead_letters: Sequence[DeadLetter] = ()
    settled: Sequence[Settled] = ()
    snapshot: Snapshot | None = None
    compaction: Compaction | None = None
    lines: Sequence[Line] = ()
    records: Sequence[RecordChange] = ()
    queued: Sequence[QueuedTask] = ()
    """Tasks for workers; one takes the place of an earlier one of the same token."""
    dequeued: Sequence[TaskToken] = ()
    """Tasks that no worker is to do any more; dropped before `queued` are added."""
    finished: Claim | None = None
    """The claim whose task this ends: its row is deleted, and the inbox gets the result. If the claim does not hold,
    the verdict is `exists` if that result is in the inbox already, else `conflict`."""
    pool: str | None = None
    """The run goes to the shards of this pool, with its inputs, timers and tasks; `pools.FOLLOW`: what is left of those
    here goes to where it is."""
    place: QueuedRun | None = None
    """With `create`: the run waits on a queue, and what is sent to it is held back until it is admitted. The verdict is
    `exists` if another run has its `dedup_id`."""
    leaves_queue: bool = False
    """It waits no longer, and takes no slot: what was held back goes to its owner, before `inbox`."""
    debounce: Millis | None = None
    """The run's start, in `inbox`, takes the place of the one that is held back, and its delay begins anew. The verdict
    is `conflict` if it has left its queue."""
    removal: Millis | None = None
    """The run goes, with all that is found by its id. The verdict is `conflict` unless it had ended by then, has no
    input waiting, and its parent is gone."""


Verdict = Literal["ok", "fenced", "conflict", "exists"]
"""fenced: the epoch is not the shard's any more. conflict: the log already has that number, or
there is no such run. exists: a run of that id is there."""


class RunFilter(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    namespace: str | None = None
    status: Collection[ShownStatus] | ShownStatus | None = None
    """One, or any of several. A child that failed with its parent is left out, unless `parent` is asked for."""
    dialect: str | None = None
    definition: str | None = None
    parent: RunId | None = None
    labels: Mapping[str, str] | None = None
    """A run must have all of them."""
    id_prefix: str | None = None
    text: str | None = None
    """In the id, the name of the definition, a label or the error, in upper or lower case; see `run_text`."""
    since: Millis | None = None
    until: Millis | None = None
    """When it was created."""
    after: tuple[Millis, RunId] | None = None
    """Runs older than this one: lists are newest first."""
    limit: int = 100
    stalled: bool = False
    """Only runs that nothing will move; of the other fields, only the namespace and the limit count then."""

    @property
    def statuses(self) -> list[str] | None:
        if self.status is None:
            return None
        return [self.status] if isinstance(self.status, str) else list(self.status)


SUSPECT_AFTER = 3
"""Recoveries counted for all awake runs together. A run past it may be what kills the process: its new
owner starts such runs one at a time, and counts each for itself before it does."""


class Store(Protocol):
    @property
    def queues(self) -> TaskQueues: ...
    @property
    def removals(self) -> Removals: ...
    @property
    def fleet(self) -> Fleet | None:
        """None where engines with different code can't share it."""
        ...

    @property
    def commits_elsewhere(self) -> bool:
        """Whether a commit is another process's work, so that this one can decide what comes next."""
        ...

    @property
    def run_queues(self) -> RunQueues: ...

    async def open(self) -> None: ...
    async def close(self) -> None: ...

    async def commit(self, writes: Sequence[Write]) -> list[Verdict]:
        """All writes as one transaction, each with a verdict. `Unavailable` means that nobody knows whether
        they were written: the same writes, sent again, then get `conflict` or `exists`."""
        ...

    # Ownership
    async def claim(self, owner: str, ttl: Millis, want: int) -> list[Lease]:
        """Takes up to `want` shards that nobody holds: never leased, run out, given up, or of a dead owner."""
        ...

    async def renew(self, owner: str, ttl: Millis) -> Standing: ...
    async def release(self, owner: str, shards: Collection[Shard] | None = None) -> None: ...

    # What an owner needs
    async def recovering(self, shards: Collection[Shard]) -> list[RunRow]:
        """The awake runs of shards just claimed; counts one more recovery for those below `SUSPECT_AFTER`."""
        ...

    async def inbox(self, shards: Collection[Shard], limit: int) -> list[InboxRow]:
        """Inputs not taken yet, oldest first. Those of a run that is to start come with its start, also beyond the
        limit."""
        ...

    async def due(self, shards: Collection[Shard], now: Millis, limit: int) -> list[TimerRow]: ...
    async def next_due(self, shards: Collection[Shard], after: Millis = Millis(0)) -> Millis | None:
        """Of timers that are due later than `after`."""
        ...

    # Reading
    async def run(self, run_id: RunId) -> RunRow | None: ...
    async def runs(self, query: RunFilter) -> list[RunRow]: ...
    async def log(
        self, run_id: RunId, after: Seq = ..., upto: Seq | None = None, limit: int | None = None
    ) -> list[LogRow]:
        """The rows of a run's events, in order; `limit` is of rows."""
        ...

    async def heads(self, run_ids: Collection[RunId]) -> dict[RunId, Seq]:
        """The number of each run's last event."""
        ...

    async def snapshot(self, run_id: RunId) -> Snapshot | None: ...
    async def blob(self, digest: str) -> bytes: ...
    async def reply(self, run_id: RunId, key: str) -> Taken | None:
        """How an inbox input was answered; None while it waits."""
        ...

    async def census(self) -> Census: ...
    async def approval(self, id: str) -> Approval | None: ...
    async def approvals(self, query: ApprovalFilter) -> list[Approval]: ...
    async def dead_letter(self, id: str) -> DeadLetter | None: ...
    async def dead_letters(
        self, namespace: str | None, run_id: RunId | None = None, status: DeadLetterStatus | None = None
    ) -> list[DeadLetter]:
        """Oldest first."""
        ...

    async def lines(self, run_id: RunId, node: str | None, after: int, limit: int) -> list[Line]:
        """What tasks said, in order; those after line `after`."""
        ...

    # Records
    async def record(self, kind: str, namespace: str, id: str) -> Record | None: ...
    async def records_named(self, kind: str, names: Sequence[tuple[str, str]]) -> list[Record]:
        """Those of a kind that have these namespaces and ids, in any order."""
        ...

    async def records(
        self, kind: str, namespace: str | None, after: str | None, limit: int, *, newest: bool = False
    ) -> list[Record]:
        """By id; `newest` turns that round. Those past the id `after`."""
        ...

    def watch(self, callback: Callable[[], None], shown: Callable[[], None] | None = None) -> None:
        """Calls back on the event loop whenever another process may have written something. Where it is known that
        runs of its own only began, ended or wait, so that nobody here has anything to do, `shown` is called instead."""
        ...

    async def owners(self) -> list[Owner]:
        """Who holds shards now, as far as the leases say."""
        ...

    async def stalled(self, before: Millis, namespace: str | None, limit: int) -> list[RunId]:
        """Runs that nothing will move, by their rows, and that had no event since that moment; oldest first."""
        ...

    async def namespaces(self) -> list[str]:
        """Those that have runs."""
        ...

    async def integrity(self) -> list[str]:
        """What the database itself finds wrong with its files, a sentence each. May take long; stops nobody."""
        ...

    async def facts(self) -> dict[str, str]:
        """For `plait doctor`: version, durability, size."""
        ...

    async def scrub(self) -> None:
        """Removes what is left of overwritten records from the database's own files, as far as it can."""
        ...
