"""The contract of a store: what is durable, and who may write it.

A store keeps runs, their logs, snapshots, inboxes, timers, queued tasks, approvals, dead letters and blobs, and the
leases of the shards. Everything that changes a run goes through `commit`, which writes the changes of many runs to disk
as one transaction. Each write is all or nothing and gets its own verdict; a bad one never takes its neighbours down.

Ownership: a lease is (shard, epoch). `claim` raises the epoch of every shard it takes, so a write that proves an older
epoch is refused. Whether a lease has expired is judged by the database's clock.
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
"""Statuses for filters. A waiting, working or blocked run is also running; every running run is one of the three."""
DeadLetterStatus = Literal["pending", "retried", "discarded"]
LineLevel = Literal["debug", "info", "warning", "error"]
SUBJECT = "subject"
"""The label with the data subject of a run's values; children and forks inherit it."""


def own_subject(run_id: RunId) -> str:
    """The subject of a run with personal data but no named subject: it has its own key, which can be destroyed."""
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
    """Has work in flight that only its owner knows of: must be loaded when a shard changes hands."""
    parent: RunId | None = None
    parent_token: TaskToken | None = None
    depth: int = 0
    labels: dict[str, str] = {}
    start_hash: str = ""
    """Hash of definition and input: distinguishes a repeated start from a conflicting one."""
    created_at: Millis = Millis(0)
    ended_at: Millis | None = None
    deadline: Millis | None = None
    output: Raw | None = None
    error: ErrorInfo | None = None
    blocked: ErrorInfo | None = None
    recoveries: int = 0
    full: bool = False
    """Its message backlog is at the limit: no more are accepted."""
    waiting: Reason | None = None
    """The wait reason of a parked run, in a few words."""
    past: Past | None = None
    claimed: bool = False
    """Parked, but a worker has claimed one of its tasks: computed on read, not written."""
    erased_at: Millis | None = None
    """When its values were destroyed; also computed on read."""

    @property
    def queued(self) -> bool:
        """It waits on a queue, or did until a moment ago: it has not started."""
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
    """The fields of a run's row that change; all of them are written."""

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
        """It stands for `count` events that were compacted."""
        return self.events == COMPACTED


class InboxRow(msgspec.Struct, frozen=True, gc=False):
    run_id: RunId
    shard: Shard
    key: str
    """The caller's id: the same key twice is one input. Keys starting with `~` belong to the kernel."""
    body: bytes
    at: Millis
    fallback: DeadLetter | None = None
    """Stored instead if the run is unknown or has ended."""
    behind: bool = False
    """The run may still wait on a queue: its owner then gets this after its start. The same holds for a row with a
    fallback."""
    withdraws: bool = False
    """If the run still waits on a queue, it leaves it and takes no slot: its owner gets its start, and then this."""


class Taken(msgspec.Struct, frozen=True, gc=False):
    """An inbox row that was decided on, and the reply to its sender."""

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
    """Prefix of the keys of all refusals of a child, in its parent's inbox."""
    return f"~child:{child}:refused:"


class ChildPlace(msgspec.Struct, frozen=True, gc=False):
    """The queue place of a child run. The child is not created while its parent has an unread refusal of it: what was
    refused a moment ago may be possible now, and the parent must not get both."""

    place: QueuedRun
    duplicate: InboxRow
    """The parent gets this instead of a child, if another run has its `dedup_id`."""
    announcement: InboxRow | None = None
    """Sent at once to a parent that only waits for its child to exist."""


class NewChild(msgspec.Struct, frozen=True, gc=False):
    """A child run, made in its parent's commit. If its id belongs to another run, the parent gets `refusal`."""

    row: RunRow
    start: InboxRow
    refusal: InboxRow
    queueing: ChildPlace | None = None
    """None: the child starts at once."""


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
    """A log line of an attempt. Stored beside the log: no decision depends on it."""

    run_id: RunId
    node: str
    attempt: int
    at: Millis
    level: LineLevel
    text: str
    id: int = 0
    """Assigned by the store; increases within a run."""


class Snapshot(msgspec.Struct, frozen=True, gc=False):
    seq: Seq
    at: Millis
    body: bytes


class Compaction(msgspec.Struct, frozen=True, gc=False):
    """Events that a snapshot makes superfluous: one row, `COMPACTED`, replaces all up to `upto`, except those of the
    run's first decision."""

    upto: Seq
    at: Millis


class Write(msgspec.Struct, gc=False):
    """Everything one decision changes. If `epoch` is None it comes from outside the owner and may only create a run,
    add to inboxes, and end a task that a worker claimed."""

    run_id: RunId
    shard: Shard
    epoch: Epoch | None
    create: RunRow | None = None
    plain: bool = False
    """It has nothing but `create`, `log` and `patch`, like most writes: other fields need not be checked."""
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
    """Deletes every timer of the run before new ones are set."""
    approvals: Sequence[Approval | ApprovalChange] = ()
    """New approvals and changes, in order: a token whose approval was closed may have a new one."""
    dead_letters: Sequence[DeadLetter] = ()
    settled: Sequence[Settled] = ()
    snapshot: Snapshot | None = None
    compaction: Compaction | None = None
    lines: Sequence[Line] = ()
    records: Sequence[RecordChange] = ()
    queued: Sequence[QueuedTask] = ()
    """Tasks for workers; each replaces an earlier one of the same token."""
    dequeued: Sequence[TaskToken] = ()
    """Tasks withdrawn from workers; deleted before `queued` are added."""
    finished: Claim | None = None
    """The claim whose task this ends: its row is deleted, and the inbox gets the result. If the claim is no longer
    valid, the verdict is `exists` if that result is in the inbox already, else `conflict`."""
    pool: str | None = None
    """The run moves to the shards of this pool, with its inputs, timers and tasks; `pools.FOLLOW`: those left here
    follow it."""
    place: QueuedRun | None = None
    """With `create`: the run waits on a queue, and its inputs are held back until it is admitted. The verdict is
    `exists` if another run has its `dedup_id`."""
    leaves_queue: bool = False
    """The run leaves its queue without a slot: held-back inputs go to its owner, before `inbox`."""
    debounce: Millis | None = None
    """The run's start, in `inbox`, replaces the held-back one, and its delay restarts. The verdict is `conflict` if it
    has left its queue."""
    removal: Millis | None = None
    """Removes the run, with everything found by its id. The verdict is `conflict` unless it had ended by then, has no
    waiting input, and its parent is gone."""


Verdict = Literal["ok", "fenced", "conflict", "exists"]
"""`fenced`: the epoch is no longer the shard's. `conflict`: the log already has that number, or there is no such run.
`exists`: there is a run with that id."""


class RunFilter(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    namespace: str | None = None
    status: Collection[ShownStatus] | ShownStatus | None = None
    """One status, or any of several. A child that failed with its parent is left out, unless `parent` is given."""
    dialect: str | None = None
    definition: str | None = None
    parent: RunId | None = None
    labels: Mapping[str, str] | None = None
    """Labels that a run must have, all of them."""
    id_prefix: str | None = None
    text: str | None = None
    """Text in the id, the definition's name, a label or the error, ignoring case; see `run_text`."""
    since: Millis | None = None
    until: Millis | None = None
    """Range of creation times; `until` is exclusive."""
    after: tuple[Millis, RunId] | None = None
    """Only runs older than this one: lists are newest first."""
    limit: int = 100
    stalled: bool = False
    """Only stalled runs; of the other fields, only the namespace and the limit then apply."""

    @property
    def statuses(self) -> list[str] | None:
        if self.status is None:
            return None
        return [self.status] if isinstance(self.status, str) else list(self.status)


SUSPECT_AFTER = 3
"""Recoveries counted for all awake runs together. A run beyond it may be what kills the process: its new owner starts
such runs one at a time, and counts each by itself first."""


class Store(Protocol):
    @property
    def queues(self) -> TaskQueues: ...
    @property
    def removals(self) -> Removals: ...
    @property
    def fleet(self) -> Fleet | None:
        """None if engines with different code can't share the store."""
        ...

    @property
    def commits_elsewhere(self) -> bool:
        """Whether another process does the commit, so that this one can decide meanwhile."""
        ...

    @property
    def run_queues(self) -> RunQueues: ...

    async def open(self) -> None: ...
    async def close(self) -> None: ...

    async def commit(self, writes: Sequence[Write]) -> list[Verdict]:
        """Commits all writes as one transaction, each with a verdict. `Unavailable` means that the outcome is unknown:
        if they were written, sending the same writes again gives `conflict` or `exists`."""
        ...

    # Ownership
    async def claim(self, owner: str, ttl: Millis, want: int) -> list[Lease]:
        """Claims up to `want` free shards: never leased, expired, released, or of a dead owner."""
        ...

    async def renew(self, owner: str, ttl: Millis) -> Standing: ...
    async def release(self, owner: str, shards: Collection[Shard] | None = None) -> None: ...

    # For owners
    async def recovering(self, shards: Collection[Shard]) -> list[RunRow]:
        """The awake runs of shards just claimed; counts one more recovery for those below `SUSPECT_AFTER`."""
        ...

    async def inbox(self, shards: Collection[Shard], limit: int) -> list[InboxRow]:
        """Inputs not taken yet, oldest first. Those of a run that is to start come with its start, also beyond the
        limit."""
        ...

    async def due(self, shards: Collection[Shard], now: Millis, limit: int) -> list[TimerRow]: ...
    async def next_due(self, shards: Collection[Shard], after: Millis = Millis(0)) -> Millis | None:
        """When the first timer after `after` is due."""
        ...

    # Reading
    async def run(self, run_id: RunId) -> RunRow | None: ...
    async def runs(self, query: RunFilter) -> list[RunRow]: ...
    async def log(
        self, run_id: RunId, after: Seq = ..., upto: Seq | None = None, limit: int | None = None
    ) -> list[LogRow]:
        """The rows of a run's events, in order; `limit` counts rows."""
        ...

    async def heads(self, run_ids: Collection[RunId]) -> dict[RunId, Seq]:
        """The number of each run's last event."""
        ...

    async def snapshot(self, run_id: RunId) -> Snapshot | None: ...
    async def blob(self, digest: str) -> bytes: ...
    async def reply(self, run_id: RunId, key: str) -> Taken | None:
        """The reply to an inbox input; None while it waits."""
        ...

    async def census(self) -> Census: ...
    async def approval(self, id: str) -> Approval | None: ...
    async def approvals(self, query: ApprovalFilter) -> list[Approval]: ...
    async def dead_letter(self, id: str) -> DeadLetter | None: ...
    async def dead_letters(
        self,
        namespace: str | None,
        run_id: RunId | None = None,
        status: DeadLetterStatus | None = None,
        after: tuple[Millis, str] | None = None,
        limit: int | None = None,
    ) -> list[DeadLetter]:
        """Dead letters, oldest first; `after` is the `at` and the `id` of the last one of the page before."""
        ...

    async def lines(self, run_id: RunId, node: str | None, after: int, limit: int) -> list[Line]:
        """Lines of tasks in order, after line `after`."""
        ...

    # Records
    async def record(self, kind: str, namespace: str, id: str) -> Record | None: ...
    async def records_named(self, kind: str, names: Sequence[tuple[str, str]]) -> list[Record]:
        """Records of a kind with these namespaces and ids, in any order."""
        ...

    async def records(
        self, kind: str, namespace: str | None, after: str | None, limit: int, *, newest: bool = False
    ) -> list[Record]:
        """Records by id, after the id `after`; `newest` reverses the order."""
        ...

    def watch(self, callback: Callable[[], None], shown: Callable[[], None] | None = None) -> None:
        """Calls back on the event loop whenever another process may have written something. If the only change is that
        runs of that process started, ended or wait, so that nothing is to be done here, `shown` is called instead."""
        ...

    async def owners(self) -> list[Owner]:
        """Owners of shards, according to the leases."""
        ...

    async def stalled(self, before: Millis, namespace: str | None, limit: int) -> list[RunId]:
        """Stalled runs, judged by their rows, without events since that moment; oldest first."""
        ...

    async def namespaces(self) -> list[str]:
        """Namespaces that have runs."""
        ...

    async def integrity(self) -> list[str]:
        """Defects that the database finds in its files, a sentence each. May take long; blocks nobody."""
        ...

    async def facts(self) -> dict[str, str]:
        """Facts for `plait doctor`: version, durability, size."""
        ...

    async def scrub(self) -> None:
        """Removes remains of overwritten records from the database's files, as far as it can."""
        ...
