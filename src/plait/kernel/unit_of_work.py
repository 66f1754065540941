"""The write that grows during decisions, and the work to start once it is on disk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, get_type_hints

import msgspec
from msgspec import Raw

from . import blob_parts, values
from .approval import Approval, ApprovalChange
from .blobs import digest_of
from .effects import StartChild
from .errors import ErrorInfo, PlaitError
from .events import Event
from .ids import Millis, RunId, Seq, TaskToken, shard_of
from .inputs import AnyInput
from .queued import QueuedTask
from .store import DeadLetter, InboxRow, LogRow, NewChild, Settled, Taken, TimerRow, Write
from .tasks import OpenTask

S = TypeVar("S", bound=msgspec.Struct)


class KeptEntry(msgspec.Struct, frozen=True, gc=False):
    token: TaskToken
    attempt: int
    index: int
    refusal: PlaitError | None = None


class UnitOfWork(msgspec.Struct, gc=False):
    """The result of one round of decisions: most only add events to the log and start a task."""

    write: Write
    first: Seq
    """The number its first event will have."""
    at: Millis
    events: list[Event] = []

    unresolved: list[StartChild] | None = None
    """Children to resolve before this can be committed."""
    breach: ErrorInfo | None = None
    """The limit that a decision broke; its effects are left out."""
    stopped: Sequence[RunId] = ()
    """Running children that are cancelled because the run is compensated."""
    unborn: frozenset[RunId] = frozenset()
    """Children that a limit forbids: they are never created, so nothing is sent to them."""

    # After the commit
    tasks: list[OpenTask] = []
    """Tasks to start."""
    revoked: list[TaskToken] | None = None
    kept: list[KeptEntry] | None = None
    """Outcomes of journal entries that attempts of this process wait for."""
    more: bool = False
    ended: bool = False

    @property
    def rows(self) -> Write:
        """The write, to add more to it than a run, its events and its row."""
        self.write.plain = False
        return self.write

    @property
    def empty(self) -> bool:
        """Nothing to write: the input changed nothing."""
        write = self.write
        return write.plain and not self.events and write.create is None and write.patch is None

    # -- what effects add ----------------------------------------------------------------------------------------

    def take(self, taken: Taken) -> None:
        self.rows.taken = [*self.write.taken, taken]

    def set_timer(self, token: TaskToken, due: Millis) -> None:
        write = self.rows
        write.timers = [*write.timers, TimerRow(write.run_id, write.shard, token, due)]

    def clear_timer(self, token: TaskToken) -> None:
        write = self.rows
        write.cleared = [*write.cleared, token]
        write.timers = [timer for timer in write.timers if timer.token != token]

    def clear_all(self, *, stored: bool) -> None:
        """Clears all timers and open approvals; later ones of the same unit of work stay."""
        write = self.write
        if stored or not write.plain:
            write.clear_all = write.clear_all or stored
            write.timers = ()
            if stored or write.approvals:
                self._withdraw_approvals()

    def _withdraw_approvals(self) -> None:
        """Drops approvals of this unit of work that nobody has seen yet, except those with votes, and withdraws the
        open ones."""
        write = self.rows
        changed = {each.token for each in write.approvals if isinstance(each, ApprovalChange)}
        kept = [each for each in write.approvals if each.token in changed]
        write.approvals = [*kept, ApprovalChange("withdrawn", self.at)]

    def request_approval(self, approval: Approval) -> None:
        self.rows.approvals = [*self.write.approvals, approval]

    def change_approval(self, change: ApprovalChange) -> None:
        """Adds a change, unless this unit of work has closed the token's approval and not requested it again."""
        write = self.rows
        last = next((each for each in reversed(write.approvals) if each.token == change.token), None)
        if last is None or last.status == "open":
            write.approvals = [*write.approvals, change]

    def send(self, run_id: RunId, key: str, input: AnyInput, fallback: DeadLetter | None = None) -> None:
        self.post(InboxRow(run_id, shard_of(run_id), key, values.plain(input), self.at, fallback))

    def post(self, row: InboxRow) -> None:
        self.rows.inbox = [*self.write.inbox, row]

    def add_child(self, child: NewChild) -> None:
        self.rows.children = [*self.write.children, child]

    def give_up(self, letter: DeadLetter) -> None:
        self.rows.dead_letters = [*self.write.dead_letters, letter]

    def settle(self, letters: list[Settled]) -> None:
        self.rows.settled = [*self.write.settled, *letters]

    def enqueue(self, task: QueuedTask, blobs: list[tuple[str, bytes]]) -> None:
        write = self.rows
        write.queued = [*write.queued, task]
        write.blobs = [*write.blobs, *blobs]

    def dequeue(self, token: TaskToken) -> None:
        """Removes a task's row, here and in the store; a later one of the same unit of work stays."""
        write = self.rows
        write.dequeued = [*write.dequeued, token]
        write.queued = [task for task in write.queued if task.token != token]

    # -- closing -------------------------------------------------------------------------------------------------

    def seal(self, blob_threshold: int) -> Write:
        """The write, with the events in it."""
        write, events = self.write, self.events
        if events:
            encoded = values.plain(events)
            if len(encoded) <= blob_threshold:
                write.log = LogRow(self.first, len(events), self.at, encoded)
            else:
                self._take_blobs(blob_threshold)
        return write

    def _take_blobs(self, blob_threshold: int) -> None:
        """Writes the events to the log without their large values."""
        blobs: list[tuple[str, bytes]] = []
        refs: dict[str, str] = {}
        slim = list(self.events)
        for index, event in enumerate(self.events):
            slim[index] = take_blobs(event, index, blob_threshold, refs, blobs)
        names = values.plain(refs).decode() if refs else None
        self.write.log = LogRow(self.first, len(slim), self.at, values.plain(slim), names)
        if blobs:
            self.rows.blobs = [*self.write.blobs, *blobs]


def take_blobs(struct: S, index: int, threshold: int, refs: dict[str, str], blobs: list[tuple[str, bytes]]) -> S:
    """The event, or other struct, without its large values."""
    for name in raw_fields(type(struct)):
        value = getattr(struct, name)
        if value is not None and len(value) > threshold:
            body = _take_parts(bytes(value), f"{index}.{name}", threshold, refs, blobs)
            struct = msgspec.structs.replace(struct, **{name: body})
    return struct


def _take_parts(body: bytes, place: str, threshold: int, refs: dict[str, str], blobs: list[tuple[str, bytes]]) -> Raw:
    """What stays in the event. Arguments in a list or by name are separate blobs: one large value passed to many tasks
    is stored once."""
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
    digest = digest_of(body)
    blobs.append((digest, body))
    return digest


_raw_fields: dict[type[msgspec.Struct], tuple[str, ...]] = {}


def raw_fields(cls: type[msgspec.Struct]) -> tuple[str, ...]:
    """The fields of an event type that hold one JSON value each; not those that hold several."""
    found = _raw_fields.get(cls)
    if found is None:
        hints = get_type_hints(cls)
        found = tuple(n for n in cls.__struct_fields__ if hints[n] in (Raw, Raw | None))
        _raw_fields[cls] = found
    return found
