"""The write that grows while one input is decided, and what to do once it is on disk."""

from __future__ import annotations

import hashlib
from typing import TypeVar, get_type_hints

import msgspec
from msgspec import Raw

from . import blob_parts, values
from .approval import Approval, ApprovalChange
from .effects import StartChild
from .errors import ErrorInfo
from .events import Event
from .ids import Epoch, Millis, RunId, Seq, Shard, TaskToken, shard_of
from .inputs import AnyInput
from .queued import QueuedTask
from .store import (
    Compaction,
    DeadLetter,
    InboxRow,
    LogRow,
    NewChild,
    RunPatch,
    RunRow,
    Settled,
    Snapshot,
    Taken,
    TimerRow,
    Write,
)
from .tasks import OpenTask

S = TypeVar("S", bound=msgspec.Struct)


class UnitOfWork:
    """One is made for every decision: what most of them don't need stays a default of the class."""

    create: RunRow | None = None
    patch: RunPatch | None = None
    taken: list[Taken] | None = None
    inbox: list[InboxRow] | None = None
    children: list[NewChild] | None = None
    timers: list[TimerRow] | None = None
    cleared: list[TaskToken] | None = None
    clears_all: bool = False
    approvals: list[Approval | ApprovalChange] | None = None
    dead_letters: list[DeadLetter] | None = None
    settled: list[Settled] | None = None
    snapshot: Snapshot | None = None
    compaction: Compaction | None = None
    queued: list[QueuedTask] | None = None
    dequeued: list[TaskToken] | None = None
    blobs: list[tuple[str, bytes]] | None = None
    """Of queued tasks."""

    unresolved: list[StartChild] | None = None
    """Children to be resolved before this can be committed."""

    breach: ErrorInfo | None = None
    """The limit that a decision broke; its effects are left out."""

    # After the commit
    revoked: list[TaskToken] | None = None
    more: bool = False
    ended: bool = False

    def __init__(self, run_id: RunId, shard: Shard, epoch: Epoch, first: int, at: Millis) -> None:
        self.run_id = run_id
        self.shard = shard
        self.epoch = epoch
        self.first = first
        """The number its first event will have."""
        self.at = at
        self.events: list[Event] = []
        self.tasks: list[OpenTask] = []
        """What to start once it is on disk."""

    @property
    def empty(self) -> bool:
        """Nothing to write: the input changed nothing."""
        return not (self.events or self.create or self.patch or self._has_more())

    def _has_more(self) -> bool:
        """Than a run, its events and its row: most units of work have not."""
        return bool(
            self.taken
            or self.cleared
            or self.timers
            or self.clears_all
            or self.settled
            or self.inbox
            or self.snapshot
            or self.compaction
            or self.children
            or self.approvals
            or self.dead_letters
            or self.queued
            or self.dequeued
            or self.blobs
        )

    # -- what effects add ----------------------------------------------------------------------------------------

    def set_timer(self, token: TaskToken, due: Millis) -> None:
        self.timers = [*(self.timers or ()), TimerRow(self.run_id, self.shard, token, due)]

    def clear_timer(self, token: TaskToken) -> None:
        self.cleared = [*(self.cleared or ()), token]
        self.timers = [timer for timer in self.timers or () if timer.token != token]

    def clear_all(self, *, stored: bool) -> None:
        """No timer and no open approval outlives this; later ones of the same draft do."""
        self.clears_all = self.clears_all or stored
        self.timers = None
        if stored or self.approvals:
            self._withdraw_approvals()

    def _withdraw_approvals(self) -> None:
        """Those that nobody has seen yet are not kept; one that was voted on meanwhile is."""
        changed = {each.token for each in self.approvals or () if isinstance(each, ApprovalChange)}
        kept = [each for each in self.approvals or () if each.token in changed]
        self.approvals = [*kept, ApprovalChange("withdrawn", self.at)]

    def change_approval(self, change: ApprovalChange) -> None:
        """A token whose approval this draft has closed has none to change, until it is requested again."""
        last = next((each for each in reversed(self.approvals or ()) if each.token == change.token), None)
        if last is None or last.status == "open":
            self.approvals = [*(self.approvals or ()), change]

    def send(self, run_id: RunId, key: str, input: AnyInput, fallback: DeadLetter | None = None) -> None:
        row = InboxRow(run_id, shard_of(run_id), key, values.plain(input), self.at, fallback)
        self.inbox = [*(self.inbox or ()), row]

    def settle(self, letters: list[Settled]) -> None:
        self.settled = [*(self.settled or ()), *letters]

    def enqueue(self, task: QueuedTask, blobs: list[tuple[str, bytes]]) -> None:
        if self.queued is None or self.blobs is None:
            self.queued, self.blobs = [], []
        self.queued.append(task)
        self.blobs += blobs

    def dequeue(self, token: TaskToken) -> None:
        """Whatever row a task has, here or in the store; a later one of the same draft stays."""
        self.dequeued = [*(self.dequeued or ()), token]
        if self.queued is not None:
            self.queued = [task for task in self.queued if task.token != token]

    # -- closing -------------------------------------------------------------------------------------------------

    def write(self, blob_threshold: int) -> Write:
        log, blobs, events = None, (), self.events
        if events:
            encoded = values.plain(events)
            if len(encoded) > blob_threshold:
                log, blobs = self._log(blob_threshold)
            else:
                log = LogRow(Seq(self.first), len(events), self.at, encoded)
        if not (blobs or self._has_more()):
            return Write(self.run_id, self.shard, self.epoch, self.create, log, self.patch, plain=True)
        write = Write(
            self.run_id,
            self.shard,
            self.epoch,
            self.create,
            log,
            self.patch,
            blobs,
            (),
            self.taken or (),
            self.inbox or (),
            self.children or (),
            self.timers or (),
            self.cleared or (),
            self.clears_all,
            self.approvals or (),
            self.dead_letters or (),
            self.settled or (),
            self.snapshot,
            self.compaction,
        )
        if self.queued is not None or self.dequeued is not None:
            write.queued, write.dequeued = self.queued or (), self.dequeued or ()
            write.blobs = [*blobs, *(self.blobs or ())]
        return write

    def _log(self, blob_threshold: int) -> tuple[LogRow, list[tuple[str, bytes]]]:
        """Without the large values, which are blobs."""
        blobs: list[tuple[str, bytes]] = []
        refs: dict[str, str] = {}
        slim = list(self.events)
        for index, event in enumerate(self.events):
            slim[index] = take_blobs(event, index, blob_threshold, refs, blobs)
        names = values.plain(refs).decode() if refs else None
        return LogRow(Seq(self.first), len(slim), self.at, values.plain(slim), names), blobs


def take_blobs(struct: S, index: int, threshold: int, refs: dict[str, str], blobs: list[tuple[str, bytes]]) -> S:
    """The event, or other struct, without its large values."""
    for name in raw_fields(type(struct)):
        value = getattr(struct, name)
        if value is not None and len(bytes(value)) > threshold:
            body = _take_parts(bytes(value), f"{index}.{name}", threshold, refs, blobs)
            struct = msgspec.structs.replace(struct, **{name: body})
    return struct


def _take_parts(body: bytes, place: str, threshold: int, refs: dict[str, str], blobs: list[tuple[str, bytes]]) -> Raw:
    """What stays in the event. Arguments in a list or by name are blobs each: one large value that is given to many
    tasks is kept once."""
    parts = blob_parts.split(body)
    large = [key for key, part in parts.items() if len(part) > threshold]
    if sum(len(part) for key, part in parts.items() if key not in large) > threshold or not large:
        refs[place] = _blob(body, blobs)
        return values.NULL
    for key in large:
        refs[f"{place}{blob_parts.SEPARATOR}{key}"] = _blob(bytes(parts[key]), blobs)
        parts[key] = values.NULL
    return blob_parts.join(body, parts)


def _blob(body: bytes, blobs: list[tuple[str, bytes]]) -> str:
    digest = f"cas://sha256:{hashlib.sha256(body).hexdigest()}"
    blobs.append((digest, body))
    return digest


_raw_fields: dict[type[msgspec.Struct], tuple[str, ...]] = {}


def raw_fields(cls: type[msgspec.Struct]) -> tuple[str, ...]:
    """The fields of a type of event that are one value as JSON; not those that hold several."""
    found = _raw_fields.get(cls)
    if found is None:
        hints = get_type_hints(cls)
        found = tuple(n for n in cls.__struct_fields__ if hints[n] in (Raw, Raw | None))
        _raw_fields[cls] = found
    return found
