"""The run as the key-value store has it: folded from what is decided, so that only what changed is written.

There is no log. The entries rebuild the operations, the messages that wait are keys of their own, and what else is
known of the run is one small map. A commit folds its events here and asks for the keys that differ.
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
    OpClosed,
    OpOpened,
    UpdateClosed,
    UpdateOpened,
)
from plait.dialects.code.history import History
from plait.dialects.code.history_image import HistoryImage
from plait.dialects.code.location import place_of, token_of
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
        self._names = Names()
        self._written: dict[bytes, bytes] = {}
        self._tried: dict[str, tuple[int, Millis, ErrorInfo]] = {}
        """Attempts that failed: how many, when, and why."""
        self._undone: dict[str, Undone] = {}

    # -- folding -------------------------------------------------------------------------------------------------

    def fold(self, events: Sequence[Event], at: Millis) -> set[str] | None:
        """Takes events in. The places of the entries that they change; None: any."""
        touched: set[str] = set()
        everything = False
        for event in events:
            self.state.seq += 1
            self.state.at = max(self.state.at, at)
            self.state.evolve(event)
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
        """What differs from what is written, all of it if no places are named."""
        wanted: dict[bytes, bytes | None] = {}
        if touched is None:
            wanted |= dict.fromkeys(key for key in self._written if key.startswith((_ENTRIES, _METADATA)))
            touched = {*self.history.ops, *map(self._place, self.history.undoables.values())}
        for path in touched:
            wanted |= self._entry(path)
        wanted |= self._messages() | self._run(state)
        wanted |= {pack(NAMES, index): _bare_text(name) for index, name in enumerate(self._names.all)}
        changed = [(key, value) for key, value in wanted.items() if self._written.get(key) != value]
        for key, value in changed:
            if value is None:
                self._written.pop(key, None)
            else:
                self._written[key] = value
        return changed

    def state_changes(self, state: State) -> list[Write]:
        """When nothing has happened but that the run waits now, or goes on."""
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

    def _messages(self) -> dict[bytes, bytes | None]:
        gone: dict[bytes, bytes | None] = dict.fromkeys(key for key in self._written if key.startswith(_MESSAGES))
        return gone | {pack(MESSAGES, each.number): message_of(each) for each in self.history.queue.values()}

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
        """Takes in what is written; False if that is nothing, or messages that were sent before the start."""
        self._written = dict(pairs)
        self._names = Names()
        for key in sorted(key for key in self._written if key.startswith(_NAMES)):
            self._names.add(_read_text(self._written[key]))
        found = self._written.get(pack(RUN, Field.REST))
        waiting = [
            read_message(value, index_of(key))
            for key, value in sorted(self._written.items())
            if key.startswith(_MESSAGES)
        ]
        if found is None:
            self._written.clear()
            return False
        rest = msgspec.json.decode(cbor.to_json(found), type=_Rest)
        image, seq = rest.history, rest.nextSeq - 1
        image.input = cbor.to_json(self._written[pack(RUN, Field.INPUT)])
        self._read_entries(image, rest)
        image.queue = waiting
        image.arrivals = max([image.arrivals, *(message.number for message in waiting)])
        image.orders = seq
        image.seen = [*(m.id for op in image.ops for m in op.received or ()), *(m.id for m in waiting)]
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

    def _metadata(self, entry: bytes) -> bytes:
        size = entry[2]  # an id is a UUID: its length is one byte
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
        """What must ring, and when."""
        history = self.history
        found = {
            token_of(op.at, history.generation): op.deadline
            for op in history.open_ops()
            if op.kind in _TIMED and op.deadline is not None
        }
        return found | {TaskToken(RETRY + event.token): event.due for event in self.state.dump().attempts}

    def waiting_for(self) -> list[str]:
        """The names of the messages that somebody listens for."""
        return sorted({name for op in self.history.listeners() for name in op.names or ()})

    def entries(self) -> list[OpState]:
        return list(self.history.ops.values())


class _Rest(msgspec.Struct, omit_defaults=True):
    """What is known of a run beside its entries and messages."""

    seed: int
    nextSeq: int
    at: Millis
    history: HistoryImage
    kernel: KernelState
    spare: list[str] = []
    starts: dict[str, dict[int, Raw]] = {}


_NAMES, _ENTRIES, _MESSAGES, _METADATA = pack(NAMES), pack(ENTRIES), pack(MESSAGES), pack(METADATA)
_EVERYWHERE = {"loop.trimmed", "run.recovered", "run.rewound", "run.continued", "run.forked"}


def _path(token: TaskToken) -> str:
    """The place of a task, or of what a compensator undoes."""
    return place_of(TaskToken(token.removeprefix(UNDO)))[0]


def _error(body: bytes | None) -> ErrorInfo:
    return ErrorInfo("kernel.failed", "it failed") if body is None else msgspec.convert(cbor.decode(body), ErrorInfo)


def _bare_text(name: str) -> bytes:
    out = Writer()
    out.text(name)
    return out.bytes()


def _read_text(body: bytes) -> str:
    return Reader(body).text()
