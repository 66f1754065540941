"""The run as the key-value store has it: folded from decisions, so that only changes are written.

There is no log. Operations are rebuilt from the entries, waiting messages have keys of their own, and the rest of the
run's state is one small map. A commit folds its events here and asks for the keys that differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec
from msgspec import Raw

from plait.dialects.code.compensation import UNDO
from plait.dialects.code.events import (
    BranchClosed,
    LoopCommitted,
    MessageQueued,
    OpClosed,
    OpOpened,
    UpdateClosed,
    UpdateOpened,
)
from plait.dialects.code.history import History
from plait.dialects.code.history_image import HistoryImage
from plait.dialects.code.location import place_of, token_of
from plait.dialects.code.message_queue import QueuedMessage
from plait.dialects.code.op_state import OpState, Undoable, place_in
from plait.kernel.errors import ErrorInfo
from plait.kernel.events import (
    Event,
    RollbackStep,
    RunCancelled,
    RunCompleted,
    RunFailed,
    TaskDeadLettered,
    TaskRetryScheduled,
)
from plait.kernel.ids import Millis, RunId, TaskToken
from plait.kernel.inputs import Message
from plait.kernel.open_tasks import RETRY
from plait.kernel.run import cancelled
from plait.kernel.state import KernelState, RunState
from plait.kernel.values import NULL, plain

from . import cbor
from .bare import Reader, Writer
from .driver import KeyValue, Write
from .entries import EntryIds, Undone, entry_of, message_of, metadata_of, read_entry, read_message, undoable_of
from .keys import ENTRIES, MESSAGES, METADATA, NAMES, RUN, Field, index_of, pack
from .names import Names

State = Literal["pending", "running", "sleeping", "completed", "failed", "cancelled", "rolling_back"]

_TIMED = ("sleep", "timer", "message")
_OWN_KEYS = (OpOpened, OpClosed, BranchClosed, LoopCommitted, UpdateOpened, UpdateClosed)


class Mirror:
    def __init__(self, run_id: RunId) -> None:
        self.history = History(run_id)
        self.state = RunState()
        self._names, self._names_written = Names(), 0
        self._written: dict[bytes, bytes] = {}
        self._tried: dict[str, tuple[int, Millis, ErrorInfo]] = {}
        """Failed attempts: how many, when the last one, and its error."""
        self._undone: dict[str, Undone] = {}
        self._message_keys: set[bytes] = set()
        self._expected: dict[str, int] = {}
        """Messages that are stored but not yet in an event: their indices."""
        self._early: list[QueuedMessage] = []
        self._heard: dict[str, int] = {}
        """Messages whose entries are gone, kept so that they are not delivered again: the numbers of their keys."""

    # -- messages ------------------------------------------------------------------------------------------------

    def early(self) -> list[Message]:
        """Messages that were sent before the run started."""
        return [Message(each.id, each.name, each.body, each.sent_at) for each in self._early]

    def knows(self, id: str) -> bool:
        return id in self.history.seen or id in self._expected

    @property
    def last_message(self) -> int:
        """The highest index that a message has or had."""
        return max([self.history.arrivals, *self._expected.values()])

    def expect(self, id: str, key: bytes, value: bytes) -> None:
        """Notes a message that was stored, and is on its way to the run."""
        self._written[key] = value
        self._message_keys.add(key)
        self._expected[id] = index_of(key)

    # -- folding -------------------------------------------------------------------------------------------------

    def fold(self, events: Sequence[Event], at: Millis) -> set[str] | None:
        """Folds events; returns the locations of the entries that they change, or None if any may have changed."""
        touched: set[str] = set()
        everything = False
        for event in events:
            self.state.seq += 1
            self.state.at = max(self.state.at, at)
            self.state.evolve(event)
            if isinstance(event, MessageQueued):  # its index is that of its key
                self.history.arrivals = max(self.history.arrivals, self._expected.pop(event.id, 0) - 1)
            self.history.orders = self.history.seq  # closings are numbered like their events, as after loading
            self.history.evolve(event, at)
            path = self._changed(event, at)
            if path is None:
                everything = True
            elif path:
                touched.add(path)
        return None if everything else touched

    def _changed(self, event: Event, at: Millis) -> str | None:
        match event:
            case OpClosed():
                self.state.tasks.close(token_of(event.at, self.history.generation))
                self._tried.pop(event.at, None)
                return event.at
            case TaskRetryScheduled():
                path = _path(event.token)
                self._tried[path] = (event.attempt, at, event.error)
                return path
            case RollbackStep():
                self.state.tasks.close(event.at)
                error = None if event.error is None else event.error.message
                self._undone[_path(event.at)] = Undone(at if event.status == "completed" else None, error)
                return _path(event.at)
            case TaskDeadLettered():
                return _path(event.token)
            case _:
                if isinstance(event, _OWN_KEYS):
                    return event.at
                return None if event.__struct_config__.tag in _EVERYWHERE else ""

    # -- writing -------------------------------------------------------------------------------------------------

    def changes(self, touched: set[str] | None, state: State) -> list[Write]:
        """The writes for what differs from the store; checks everything if `touched` is None."""
        wanted: dict[bytes, bytes | None] = {}
        if touched is None:
            wanted |= dict.fromkeys(key for key in self._written if key.startswith((_ENTRIES, _METADATA)))
            touched = {*self.history.ops, *map(self._place, self.history.undoables.values())}
            wanted |= self._note_heard()
        for path in touched:
            wanted |= self._entry(path)
        wanted |= self._messages() | self._run(state)
        wanted |= self._new_names()
        changed = [(key, value) for key, value in wanted.items() if self._written.get(key) != value]
        for key, value in changed:
            if value is None:
                self._written.pop(key, None)
            else:
                self._written[key] = value
        return changed

    def state_changes(self, state: State) -> list[Write]:
        """The writes when no event was recorded: the run only started or stopped waiting."""
        key, text = pack(RUN, Field.STATE), state.encode()
        if self._written.get(key) == text:
            return []
        self._written[key] = text
        return [(key, text)]

    def _entry(self, path: str) -> dict[bytes, bytes | None]:
        place, about = pack(ENTRIES, *self._names.parts(path)), pack(METADATA, EntryIds.of(path))
        if (op := self.history.ops.get(path)) is not None:
            attempts, tried_at, error = self._tried.get(path, (op.attempts, op.closed_at or Millis(0), None))
            metadata = metadata_of(op, attempts, tried_at, error, self._undone.get(path))
            return {place: entry_of(op, self._names), about: metadata}
        if (record := self.history.undoables.get(path)) is not None:
            entry, metadata = undoable_of(path, record, self._names, self._undone.get(path))
            return {place: entry, about: metadata}
        return {place: None, about: None}

    def _place(self, record: Undoable) -> str:
        return place_in(self.history.era, record)

    def _new_names(self) -> dict[bytes, bytes | None]:
        first, self._names_written = self._names_written, len(self._names.all)
        return {pack(NAMES, index): _bare_text(self._names.all[index]) for index in range(first, self._names_written)}

    def _messages(self) -> dict[bytes, bytes | None]:
        awaited = {pack(MESSAGES, index) for index in self._expected.values()}
        waiting: dict[bytes, bytes | None] = {}
        index = 0
        for each in self.history.queue.values():  # a returned message may find its place taken by a newer one
            index = max(index + 1, each.number)
            waiting[pack(MESSAGES, index)] = message_of(each)
        gone = dict.fromkeys(self._message_keys - awaited)
        self._message_keys = awaited | waiting.keys()
        return gone | waiting

    def _note_heard(self) -> dict[bytes, bytes | None]:
        """Keeps the ids of delivered messages whose entries are gone, for as long as the history knows them."""
        history = self.history
        known = {message.id for op in history.ops.values() for message in op.received or ()} | history.queue.keys()
        dropped = [id for id in self._heard if id not in history.seen]
        wanted: dict[bytes, bytes | None] = {pack(RUN, Field.HEARD, self._heard.pop(id)): None for id in dropped}
        last = max(self._heard.values(), default=0)
        for id in history.seen:
            if id not in known and id not in self._heard:
                self._heard[id] = last = last + 1
                wanted[pack(RUN, Field.HEARD, last)] = id.encode()
        return wanted

    def _run(self, state: State) -> dict[bytes, bytes | None]:
        final = self.state.final if self.state.status != "running" else None
        output = cbor.of_json(final.output) if isinstance(final, RunCompleted) else None
        error = final.error if isinstance(final, RunFailed) else None
        if isinstance(final, RunCancelled):
            error = cancelled(final)
        return {
            pack(RUN, Field.STATE): state.encode(),
            pack(RUN, Field.OUTPUT): output,
            pack(RUN, Field.ERROR): None if error is None else cbor.of_json(plain(error)),
            pack(RUN, Field.VERSION): self.history.hash.encode(),
            pack(RUN, Field.INPUT): cbor.of_json(self.history.input),
            pack(RUN, Field.REST): self._rest(),
        }

    def _rest(self) -> bytes:
        image, kernel = self.history.image(), self.state.dump()
        rest = _Rest(
            seed=image.seed,
            nextSeq=self.state.seq + 1,
            at=self.state.at,
            history=image,
            kernel=kernel,
            spare=[op.at for op in image.ops if op.spare],
            starts={op.at: op.starts for op in image.ops if op.starts},
        )
        image.input, image.ops, image.undoables, image.queue, image.seen = NULL, [], [], [], []
        kernel.final = None
        return cbor.of_json(plain(rest))

    # -- reading -------------------------------------------------------------------------------------------------

    def load(self, pairs: Iterable[KeyValue]) -> bool:
        """Loads what is stored; returns False if there is nothing but messages sent before the start."""
        self._written = dict(pairs)
        self._names, self._names_written = Names(), 0
        for key in sorted(key for key in self._written if key.startswith(_NAMES)):
            self._names_written = 1 + self._names.add(_read_text(self._written[key]))
        found = self._written.get(pack(RUN, Field.REST))
        self._message_keys = {key for key in self._written if key.startswith(_MESSAGES)}
        waiting = [read_message(self._written[key], index_of(key)) for key in sorted(self._message_keys)]
        if found is None:
            self._written = {key: self._written[key] for key in self._message_keys}
            self._early = _once(waiting)
            self._expected = {message.id: message.number for message in self._early}
            return False
        rest = msgspec.json.decode(cbor.to_json(found), type=_Rest)
        image, seq = rest.history, rest.nextSeq - 1
        image.input = cbor.to_json(self._written[pack(RUN, Field.INPUT)])
        self._read_entries(image, rest)
        self._heard = self._read_heard()
        heard = dict.fromkeys([*self._heard, *(message.id for op in image.ops for message in op.received or ())])
        image.queue = _once(message for message in waiting if message.id not in heard)
        image.arrivals = max([image.arrivals, *(message.number for message in waiting)])
        image.orders = seq
        image.seen = [*heard, *(message.id for message in image.queue)]
        image.seen += [op.key for op in image.ops if op.key]
        rest.kernel.final = self._final(rest.kernel)
        self.history.restore(Raw(plain(image)))
        self.state.restore(rest.kernel, seq, rest.at)
        for event in rest.kernel.attempts:
            self._tried[_path(event.token)] = (event.attempt, rest.at, event.error)
        return True

    def _read_entries(self, image: HistoryImage, rest: _Rest) -> None:
        for key, value in self._written.items():
            if not key.startswith(_ENTRIES):
                continue
            found = read_entry(value, self._metadata(value), self._names)
            if isinstance(found, Undoable):
                image.undoables.append(found)
                continue
            found.spare, found.starts = found.at in rest.spare, rest.starts.get(found.at, {})
            image.ops.append(found)
            if found.undo is not None and found.status == "completed":
                undoable = Undoable(found.at, found.undo, found.order, found.output, found.args, found.fn, image.era)
                image.undoables.append(undoable)
        image.ops.sort(key=lambda op: op.opened_seq)

    def _read_heard(self) -> dict[str, int]:
        keys = sorted(key for key in self._written if key.startswith(_HEARD))
        return {self._written[key].decode(): index_of(key, RUN, Field.HEARD) for key in keys}

    def _metadata(self, entry: bytes) -> bytes:
        size = entry[2]  # an id is a UUID: its length takes one byte
        return self._written[pack(METADATA, entry[3 : 3 + size].decode())]

    def _final(self, kernel: KernelState) -> RunCompleted | RunFailed | RunCancelled | None:
        output, error = self._written.get(pack(RUN, Field.OUTPUT)), self._written.get(pack(RUN, Field.ERROR))
        match kernel.status:
            case "completed":
                return RunCompleted(cbor.to_json(output or b"\xf6"))
            case "failed":
                return RunFailed(_error(error))
            case "cancelled":
                return RunCancelled(_error(error).message)
            case _:
                return None

    # -- asking --------------------------------------------------------------------------------------------------

    def timers(self) -> dict[TaskToken, Millis]:
        """The timers that must be set, and when they are due."""
        history = self.history
        found = {
            token_of(op.at, history.generation): op.deadline
            for op in history.open_ops()
            if op.kind in _TIMED and op.deadline is not None
        }
        return found | {TaskToken(RETRY + event.token): event.due for event in self.state.dump().attempts}

    def waiting_for(self) -> list[str]:
        """The names of the messages that the run listens for."""
        return sorted({name for op in self.history.listeners() for name in op.names or ()})

    def entries(self) -> list[OpState]:
        return list(self.history.ops.values())


class _Rest(msgspec.Struct, omit_defaults=True):
    """The state of a run beside its entries and messages."""

    seed: int
    nextSeq: int
    at: Millis
    history: HistoryImage
    kernel: KernelState
    spare: list[str] = []
    starts: dict[str, dict[int, Raw]] = {}


_HEARD = pack(RUN, Field.HEARD)
_NAMES, _ENTRIES, _MESSAGES, _METADATA = pack(NAMES), pack(ENTRIES), pack(MESSAGES), pack(METADATA)
_EVERYWHERE = {"loop.trimmed", "run.recovered", "run.rewound", "run.continued", "run.forked"}


def _once(messages: Iterable[QueuedMessage]) -> list[QueuedMessage]:
    """The first message of each id: senders may have repeated one."""
    found: dict[str, QueuedMessage] = {}
    for message in messages:
        found.setdefault(message.id, message)
    return list(found.values())


def _path(token: TaskToken) -> str:
    """The location of a task's operation, or of the one that a compensator undoes."""
    return place_of(TaskToken(token.removeprefix(UNDO)))[0]


def _error(body: bytes | None) -> ErrorInfo:
    return ErrorInfo("kernel.failed", "it failed") if body is None else msgspec.convert(cbor.decode(body), ErrorInfo)


def _bare_text(name: str) -> bytes:
    out = Writer()
    out.text(name)
    return out.bytes()


def _read_text(body: bytes) -> str:
    return Reader(body).text()
