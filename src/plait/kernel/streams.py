"""Logs that belong to no run: numbered events that any process may append to, such as the step catalog of a namespace.

An append is one record whose id is the number of its first event, so two writers who both want that number can't both
have it: the record is there, whole, or it is not. Nobody owns a stream. A writer reads, decides, appends at the number
that follows what it read; if someone was first, it reads on and decides again.

    records   catalog/default  0000000000000001  [e1, e2]        catalog  default     (which streams there are)
                               0000000000000003  [e3]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

import msgspec
from msgspec import Raw

from . import values
from .clock import Clock
from .errors import Conflict, Damaged, TooLarge
from .events import Event, Recorded
from .ids import Millis
from .records import Record, Records

E = TypeVar("E", bound=Event)

_PAGE = 200
_WIDTH = 16
_events = msgspec.json.Decoder(list[Raw])
_fields = msgspec.json.Decoder(dict[str, object])


class Entry(NamedTuple):
    seq: int
    at: Millis
    event: bytes
    """As JSON."""

    @property
    def recorded(self) -> Recorded:
        data = _fields.decode(self.event)
        return Recorded(self.seq, self.at, str(data.pop("type")), data)


class Stream:
    def __init__(self, records: Records, kind: str, namespace: str, clock: Clock, *, end: int = 0) -> None:
        self._records = records
        self._kind = kind
        self._namespace = namespace
        self.name = f"{kind}/{namespace}"
        """Also the kind of its records: each stream is a range of keys of its own, whatever the others hold."""
        self._clock = clock
        self._end = end
        """The number of an event that is surely the last of its append."""

    def now(self) -> Millis:
        return self._clock.now()

    async def append(self, expected: int, events: Sequence[Event], at: Millis | None = None) -> bool:
        """Appends all of them, the first as number `expected`, 1 in an empty stream; durable when this returns. False,
        and nothing is written, if that is not the next number any more."""
        if not events:
            return True
        body = values.plain(events)
        if len(body) > values.MAX_BYTES:
            raise _too_large(self.name, len(body))
        if expected != self._end + 1:
            await self.read(self._end)
        if expected != self._end + 1:
            return False
        now = self.now() if at is None else at
        if expected == 1:  # listed before its first event, so that whoever lists streams misses none
            await self._records.put(Record(self._kind, self._namespace, self._namespace, values.NULL, now))
        record = Record(self.name, self._namespace, _id(expected), Raw(body), now)
        if not await self._records.add(record):
            return False
        self._passed(expected + len(events) - 1)
        return True

    async def read(self, after: int = 0, limit: int | None = None) -> list[Entry]:
        """The events past number `after`, in order; at most `limit` of them."""
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
        """What follows in the same append."""
        page = await self._records.list(self.name, self._namespace, after=_id(after + 1), limit=1, newest_first=True)
        return [entry for record in page for entry in self._entries(record) if entry.seq > after]

    def _entries(self, record: Record) -> list[Entry]:
        try:
            first, events = int(record.id), _events.decode(record.body)
        except (ValueError, msgspec.DecodeError) as error:
            raise Damaged(f"event {record.id} of {self.name} is damaged", str(error)) from error
        if not events:  # nobody appends nothing
            raise Damaged(f"event {record.id} of {self.name} is damaged", "its record is empty")
        found = [Entry(first + index, record.at, bytes(raw)) for index, raw in enumerate(events)]
        self._passed(first + len(found) - 1)
        return found

    def _passed(self, seq: int) -> None:
        self._end = max(self._end, seq)


async def namespaces_of(records: Records, kind: str) -> list[str]:
    """Those that have a stream of this kind."""
    found: list[str] = []
    while True:
        page = await records.list(kind, after=found[-1] if found else None, limit=_PAGE)
        found += [record.id for record in page]
        if len(page) < _PAGE:
            return found


class Follower(Generic[E]):
    """A stream that is folded into some state, and how far it was read. Several tasks may use it at once: every event
    is folded once, in order."""

    def __init__(
        self,
        stream: Stream,
        decoder: msgspec.json.Decoder[E],
        fold: Callable[[E, Millis], None],
        *,
        sequence: int = 0,
    ) -> None:
        self._stream = stream
        self._decoder = decoder
        self._fold = fold
        self.sequence = sequence
        """The number of the last event that was folded; of a snapshot, to begin with."""

    async def refresh(self) -> list[E]:
        """Folds what is new, and tells what that was."""
        events: list[E] = []
        for entry in await self._stream.read(self.sequence):
            if entry.seq > self.sequence:  # else another task was faster
                events.append(self._take(self._decoded(entry), entry.at))
        return events

    async def append(self, events: Sequence[E], fold_all: Callable[[Millis], None] | None = None) -> bool:
        """Appends what was decided on the state as it is now, and folds it. False if the stream has moved on: then the
        state has to be refreshed, and the decision made again. `fold_all` makes the state what it is after all of
        them."""
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


def _id(seq: int) -> str:
    return f"{seq:0{_WIDTH}}"


def _too_large(name: str, size: int) -> TooLarge:
    return TooLarge(
        "kernel.append_too_large",
        f"an append to {name} has {size:,} bytes",
        why=f"the limit is {values.MAX_BYTES:,}",
        fix="append in several parts",
    )
