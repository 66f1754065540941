"""Logs that belong to no run: numbered events that any process may append to, such as the step catalog of a namespace.

An append is one record whose id is the number of its first event, so of two writers that want the same number only one
succeeds: the record is there, complete, or it is not. Nobody owns a stream. A writer reads, decides, and appends at the
number after what it read; if someone else was first, it reads on and decides again.

    records   catalog/default   0000000000000701  [e701, e702]         catalog  default     (which streams there are)
                                0000000000000703  [e703]
              catalog.snapshot  latest            {sequence, index}    what the events up to a number fold to

With a snapshot the oldest appends can be deleted, in order and never the newest. That could free a number again, so an
append also proves that the one before it still exists, or, for the first of all, that there was none before.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Generic, NamedTuple, TypeVar

import msgspec
from msgspec import Raw

from . import values
from .clock import Clock
from .errors import Conflict, Damaged, TooLarge, Unavailable
from .events import Event, Recorded
from .ids import Millis
from .records import Record, RecordChange, Records

log = logging.getLogger("plait.kernel")

E = TypeVar("E", bound=Event)

_PAGE = 200
_WIDTH = 16
_LATEST = "latest"
EVERY = 200
"""Fewest events between two snapshots."""
_KEPT = 1_000
"""Events before the snapshot that are kept for history."""
_TRIMMED = 100
"""Appends deleted by one commit."""
_TRIMS = 20
"""Most such commits after one snapshot: it is waited for and must not clear a backlog of years."""
_events = msgspec.json.Decoder(list[Raw])
_fields = msgspec.json.Decoder(dict[str, object])


class Entry(NamedTuple):
    seq: int
    at: Millis
    event: bytes
    """The event as JSON."""

    @property
    def recorded(self) -> Recorded:
        data = _fields.decode(self.event)
        return Recorded(self.seq, self.at, str(data.pop("type")), data)


class Snapshot(msgspec.Struct, frozen=True):
    sequence: int
    index: Raw
    """The state folded from the events up to that number. The first kind with snapshots were indexes of definitions."""


_snapshot = msgspec.json.Decoder(Snapshot)


class Stream:
    def __init__(self, records: Records, kind: str, namespace: str, clock: Clock) -> None:
        self._records = records
        self._kind = kind
        self._namespace = namespace
        self.name = f"{kind}/{namespace}"
        """Also the kind of its records: each stream is a separate range of keys."""
        self._clock = clock
        self._end = 0
        """The number of an event known to be the last of its append."""
        self._last: Record | None = None
        """The append that ends there, if it was read."""

    def now(self) -> Millis:
        return self._clock.now()

    async def append(self, expected: int, events: Sequence[Event], at: Millis | None = None) -> bool:
        """Appends all events, the first as number `expected` (1 in an empty stream); durable when this returns. False,
        without writing, if that is no longer the next number."""
        if not events:
            return True
        body = values.plain(events)
        if len(body) > values.MAX_BYTES:
            raise _too_large(self.name, len(body))
        now = self.now() if at is None else at
        proof = await self._proof(expected, now)
        if proof is None:
            return False
        record = Record(self.name, self._namespace, _id(expected), Raw(body), now)
        if not await self._records.change_all(f"{self.name}/{record.id}", [proof, RecordChange(record, "new")]):
            return False
        self._passed(expected + len(events) - 1, record)
        return True

    async def _proof(self, expected: int, now: Millis) -> RecordChange | None:
        """A check that holds while `expected` is the next number; None if it is not."""
        if expected == 1:  # read before finding that nothing was appended
            listed = await self._records.get(self._kind, self._namespace, self._namespace)
        else:
            listed = None
        if expected != self._end + 1 or self._last is None:
            await self._find_end()
        if expected != self._end + 1:
            return None
        if self._last is not None:
            return RecordChange(_named(self._last), "check", expected=self._last.at)
        # Listed with its first event, so that lists of streams miss none
        at = now if listed is None else Millis(max(now, listed.at + 1))
        mark = Record(self._kind, self._namespace, self._namespace, values.NULL, at)
        return RecordChange(mark, "new") if listed is None else RecordChange(mark, expected=listed.at)

    async def _find_end(self) -> None:
        for record in await self._records.list(self.name, self._namespace, limit=1, newest_first=True):
            self._entries(record)

    async def read(self, after: int = 0, limit: int | None = None) -> list[Entry]:
        """The events after number `after`, in order; at most `limit`."""
        found = [] if after in (0, self._end) else await self._rest(after)
        last = _id(after)
        while limit is None or len(found) < limit:
            size = _PAGE if limit is None else min(_PAGE, limit - len(found))
            page = await self._records.list(self.name, self._namespace, after=last, limit=size)
            for record in page:
                found += self._entries(record)
                last = record.id
            if len(page) < size:
                break
        return found if limit is None else found[:limit]

    async def _rest(self, after: int) -> list[Entry]:
        """The later events of the same append."""
        page = await self._records.list(self.name, self._namespace, after=_id(after + 1), limit=1, newest_first=True)
        return [entry for record in page for entry in self._entries(record) if entry.seq > after]

    def _entries(self, record: Record) -> list[Entry]:
        try:
            first, events = int(record.id), _events.decode(record.body)
        except (ValueError, msgspec.DecodeError) as error:
            raise Damaged(f"event {record.id} of {self.name} is damaged", str(error)) from error
        if not events:  # an append is never empty
            raise Damaged(f"event {record.id} of {self.name} is damaged", "its record is empty")
        found = [Entry(first + index, record.at, bytes(raw)) for index, raw in enumerate(events)]
        self._passed(first + len(found) - 1, record)
        return found

    def _passed(self, seq: int, record: Record) -> None:
        if seq >= self._end:
            self._end, self._last = seq, _named(record)

    # -- snapshots -----------------------------------------------------------------------------------------------

    async def snapshot(self) -> Snapshot | None:
        """The latest snapshot; None also if it is damaged."""
        found = _read(await self._records.get(f"{self._kind}.snapshot", self._namespace, _LATEST))
        if found is not None and found.sequence > self._end:
            self._end, self._last = found.sequence, None
        return found

    async def keep(self, snapshot: Snapshot, every: int) -> int:
        """Stores a snapshot, unless one exists that lacks fewer than `every` of its events, and deletes appends that it
        makes superfluous. Returns the number of the last event in the stored one."""
        kind = f"{self._kind}.snapshot"
        found = await self._records.get(kind, self._namespace, _LATEST)
        known = _read(found)
        if known is not None and snapshot.sequence - known.sequence < max(every, 1):
            return known.sequence
        # It never goes back: events deleted for a snapshot are in no earlier one
        at = self.now() if found is None else Millis(max(self.now(), found.at + 1))
        record = Record(kind, self._namespace, _LATEST, Raw(values.plain(snapshot)), at)
        change = RecordChange(record, "new") if found is None else RecordChange(record, expected=found.at)
        if await self._records.change_all(f"{kind}/{self._namespace}", [change]):
            await self._trim(snapshot.sequence - _KEPT)
        return snapshot.sequence  # or another writer stored one as recent

    async def _trim(self, upto: int) -> None:
        """Deletes appends whose events are all up to that number, the oldest first. The newest stays: it shows a reader
        who was away that events are missing."""
        for _ in range(_TRIMS if upto > 0 else 0):
            page = await self._records.list(self.name, self._namespace, limit=_TRIMMED + 1)
            old = [record for record, following in pairwise(page) if int(following.id) <= upto + 1]
            changes = [RecordChange(_named(record), "remove") for record in old]
            if changes:
                await self._records.change_all(f"{self.name}/trim", changes)
            if len(old) < _TRIMMED:
                return


async def namespaces_of(records: Records, kind: str) -> list[str]:
    """Namespaces that have a stream of this kind."""
    found: list[str] = []
    while True:
        page = await records.list(kind, after=found[-1] if found else None, limit=_PAGE)
        found += [record.id for record in page]
        if len(page) < _PAGE:
            return found


class Follower(Generic[E]):
    """A stream folded into some state, with its read position. Several tasks may use it at once: every event is folded
    once, in order."""

    def __init__(
        self,
        stream: Stream,
        decoder: msgspec.json.Decoder[E],
        fold: Callable[[E, Millis], None],
        *,
        restore: Callable[[Raw], None] | None = None,
        sequence: int | None = None,
    ) -> None:
        """`restore` replaces the state by a snapshot, at once, or raises `msgspec.DecodeError` and changes nothing;
        without it there are no snapshots. `sequence` is that of the snapshot that the state came from, 0 without one;
        None: no snapshot was looked up yet."""
        self._stream = stream
        self._decoder = decoder
        self._fold = fold
        self._restore = restore
        self.sequence = sequence or 0
        """The number of the last event folded, directly or by a snapshot."""
        self._kept = self.sequence
        """The number of the last event in the stored snapshot, as far as known."""
        self._looked = restore is None or sequence is not None

    async def refresh(self) -> list[E]:
        """Folds new events and returns them; events covered by a snapshot are left to `restore`."""
        events: list[E] = []
        if not self._looked:
            await self._catch_up()
        while self._missed(await self._stream.read(self.sequence), events):
            if not await self._catch_up():
                raise self._lost()
        return events

    def _missed(self, entries: Sequence[Entry], events: list[E]) -> bool:
        """Folds entries while they are consecutive; True if events are missing."""
        for entry in entries:
            if entry.seq > self.sequence + 1:
                return True
            if entry.seq > self.sequence:  # else another task was faster
                events.append(self._take(self._decoded(entry), entry.at))
        return False

    async def _catch_up(self) -> bool:
        """Restores the snapshot if events are gone. False if that is not further on."""
        before = self.sequence
        found = await self._stream.snapshot()
        self._looked = True
        if found is None or self._restore is None:
            return False
        if found.sequence > self.sequence:
            try:
                self._restore(found.index)
            except msgspec.DecodeError:
                return False
            self.sequence = self._kept = found.sequence
        return self.sequence > before  # another task may have read on meanwhile

    @property
    def since_snapshot(self) -> int:
        """How many events were folded since the last known snapshot."""
        return self.sequence - self._kept

    async def keep(self, state: Callable[[], Raw], every: int = EVERY) -> None:
        """Stores a snapshot of the state after this many events since the last."""
        if self.since_snapshot < every:
            return
        snapshot = Snapshot(self.sequence, state())
        self._kept = snapshot.sequence  # other callers need not do it meanwhile
        try:
            self._kept = await self._stream.keep(snapshot, every)
        except Unavailable as error:  # the events themselves are safe
            log.warning("no snapshot of %s for now: %s", self._stream.name, error)

    async def append(self, events: Sequence[E], fold_all: Callable[[Millis], None] | None = None) -> bool:
        """Appends events decided on the current state, and folds them. False if the stream has moved on: then refresh
        the state and decide again. `fold_all` computes the state after all of them."""
        expected, at = self.sequence + 1, self._stream.now()
        if not await self._stream.append(expected, events, at):
            return False
        if self.sequence >= expected:
            return True  # another task has read them already
        if fold_all is None:
            for event in events:
                self._take(event, at)
        else:
            self.sequence += len(events)
            fold_all(at)
        return True

    def _take(self, event: E, at: Millis) -> E:
        self.sequence += 1
        self._fold(event, at)
        return event

    def _lost(self) -> Conflict:
        return Conflict(
            "kernel.events_lost",
            f"{self._stream.name} can't be read after event {self.sequence}",
            why="older events were deleted, and the snapshot that holds what they did is gone or damaged",
            fix="restore the database from a backup",
        )

    def _decoded(self, entry: Entry) -> E:
        try:
            return self._decoder.decode(entry.event)
        except msgspec.ValidationError as error:
            raise Conflict(
                "kernel.unreadable_event",
                f"event {entry.seq} of {self._stream.name} can't be read by this engine",
                why=str(error),
                fix="use the Plait release that wrote it, or a newer one",
            ) from error


def _read(record: Record | None) -> Snapshot | None:
    try:
        return None if record is None else _snapshot.decode(record.body)
    except msgspec.DecodeError:
        return None


def _named(record: Record) -> Record:
    """The record without its body, which checks and deletions don't need."""
    return Record(record.kind, record.namespace, record.id, values.NULL, record.at)


def _id(seq: int) -> str:
    return f"{seq:0{_WIDTH}}"


def _too_large(name: str, size: int) -> TooLarge:
    return TooLarge(
        "kernel.append_too_large",
        f"an append to {name} has {size:,} bytes",
        why=f"the limit is {values.MAX_BYTES:,}",
        fix="append in several parts",
    )
