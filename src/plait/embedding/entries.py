"""Entries: the stored form of a run's operations and their outcomes.

An operation is an `Entry` under its location and an `EntryMetadata` under its id; both begin with the version of their
schema. Event numbers keep the order: results are delivered by `doneSeq`. A cancelled operation is `failed` without an
error. Of a step that a loop has trimmed only its rollback is kept: its `openSeq` is 0.
"""

from __future__ import annotations

from typing import Any, get_args
from uuid import NAMESPACE_OID, uuid5

import msgspec
from msgspec import Raw

from plait.dialects.code.events import Kind
from plait.dialects.code.message_queue import QueuedMessage
from plait.dialects.code.op_state import Branch, OpState, Undoable
from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import Millis
from plait.kernel.values import ABSENT, plain

from . import cbor
from .bare import Reader, Writer
from .keys import Part
from .names import Names

SCHEMA = 1

_KINDS = ("step", "loop", "sleep", "message", "join", "race", "removed", "version", "other")
_STATUSES = ("pending", "running", "completed", "failed", "exhausted")
_SLEEPS = ("pending", "completed", "interrupted")
_BRANCHES = ("pending", "running", "completed", "failed", "cancelled")
_WAITS = ("sleep", "message", "timer", "approval")
_OTHER = {"names", "limit", "deadline", "run_id", "given", "keep", "detached", "definition", "key"}
"""The fields stored for a kind without a form of its own, beside its arguments and its result."""


class EntryIds:
    """Derives the ids of entries: the same location in a run yields the same id."""

    @staticmethod
    def of(path: str) -> str:
        return str(uuid5(NAMESPACE_OID, path))


# -- writing -----------------------------------------------------------------------------------------------------------


def entry_of(op: OpState, names: Names) -> bytes:
    out = _begun(op.at, names)
    kind = op.kind if op.kind in _KINDS else "other"
    out.uint(_KINDS.index(kind))
    match kind:
        case "step":
            _write_step(out, op.output, op.error, _undo(op.undo, op.args, op.fn))
        case "loop":
            out.data(_value(op.state))
            out.fixed(op.iteration, 4)
            out.optional(op.output or None, lambda raw: out.data(_value(raw)))
        case "sleep":
            out.fixed(max(0, op.deadline or 0), 8)  # a time before 1970 has passed as well
            out.uint(_SLEEPS.index({"open": "pending", "completed": "completed"}.get(op.status, "interrupted")))
        case "message":
            out.text(next(iter(op.names or ()), ""))
            rest = {"names": op.names, "limit": op.limit, "deadline": op.deadline, "received": op.received}
            out.data(cbor.of_json(plain(rest)))
        case "join":
            out.map(op.branches or {}, lambda branch: _write_branch(out, branch))
        case "race":
            out.optional(op.winner, out.text)
            out.map(op.branches or {}, lambda branch: _write_branch(out, branch))
        case "version":
            out.fixed(op.value or 1, 4)
            out.fixed(op.value or 1, 4)
        case _:
            out.text(op.kind)
            out.data(cbor.of_json(plain(_other(op))))
    return out.bytes()


def metadata_of(op: OpState, attempts: int, tried_at: Millis, error: ErrorInfo | None, undone: Undone | None) -> bytes:
    out = Writer()
    out.fixed(SCHEMA, 2)
    out.uint(_STATUSES.index(_status(op)))
    out.optional(op.error or error, lambda found: out.data(cbor.of_json(plain(found))))
    out.fixed(attempts, 4)
    out.fixed(tried_at, 8)
    out.fixed(op.opened_at, 8)
    out.optional(op.closed_at, lambda at: out.fixed(at, 8))
    out.fixed(op.opened_seq, 8)
    out.optional(op.closed_seq or None, lambda seq: out.fixed(seq, 8))
    _write_undone(out, undone)
    return out.bytes()


class Undone(msgspec.Struct, frozen=True):
    """The outcome of a step's rollback handler."""

    at: Millis | None = None
    error: str | None = None


def _write_undone(out: Writer, undone: Undone | None) -> None:
    out.optional(None if undone is None else undone.at, lambda at: out.fixed(at, 8))
    out.optional(None if undone is None else undone.error, out.text)


def undoable_of(path: str, record: Undoable, names: Names, undone: Undone | None) -> tuple[bytes, bytes]:
    """Entry and metadata of a step of which only the rollback is kept."""
    out = _begun(path, names)
    out.uint(_KINDS.index("step"))
    _write_step(out, record.output, None, _undo(record.handler, record.args, record.fn, record.era, record.at))
    about = Writer()
    about.fixed(SCHEMA, 2)
    about.uint(_STATUSES.index("completed"))
    about.optional(None, about.data)
    about.fixed(1, 4)
    for _ in range(2):
        about.fixed(0, 8)
    about.optional(None, about.text)
    about.fixed(0, 8)
    about.optional(record.order, lambda seq: about.fixed(seq, 8))
    _write_undone(about, undone)
    return out.bytes(), about.bytes()


def _begun(path: str, names: Names) -> Writer:
    out = Writer()
    out.fixed(SCHEMA, 2)
    out.text(EntryIds.of(path))

    def segment(part: Part) -> None:
        if isinstance(part, tuple):
            out.uint(1)
            out.fixed(part[0], 4)
            out.fixed(part[1], 4)
        else:
            out.uint(0)
            out.fixed(int(part), 4)

    out.list(names.parts(path), segment)
    return out


def _write_step(out: Writer, output: Raw, error: ErrorInfo | None, undo: bytes | None) -> None:
    out.optional(output or None, lambda raw: out.data(_value(raw)))
    out.optional(None if error is None else error.message, out.text)
    out.optional(undo, out.data)


def _undo(handler: str | None, args: Raw, fn: str | None, era: int = 0, at: str = "") -> bytes | None:
    """Writes what undoes a step, or runs it again: its handler, its function and its arguments."""
    if handler is None and fn is None:
        return None
    found = {"handler": handler, "fn": fn, "args": msgspec.json.decode(args) if args else None}
    return cbor.encode(found | ({"at": at, "era": era} if at else {}))


def _write_branch(out: Writer, branch: Branch) -> None:
    out.uint(_BRANCHES.index("running" if branch.status == "open" else branch.status))
    out.optional(branch.output or None, lambda raw: out.data(_value(raw)))
    out.optional(branch.error, lambda error: out.data(cbor.of_json(plain(error))))


def _other(op: OpState) -> dict[str, Any]:
    found = {name: getattr(op, name) for name in _OTHER}
    raw = {name: msgspec.json.decode(value) for name in ("args", "output") if (value := getattr(op, name))}
    return found | raw


def _status(op: OpState) -> str:
    match op.status:
        case "open":
            return "pending" if op.kind in _WAITS else "running"
        case "completed":
            return "completed"
        case "failed":
            return "exhausted" if op.error is not None and op.error.kind == "exhausted" else "failed"
        case "cancelled":
            return "failed"


def _value(raw: Raw) -> bytes:
    return cbor.of_json(raw) if raw else b""


# -- reading -----------------------------------------------------------------------------------------------------------


def read_entry(entry: bytes, metadata: bytes, names: Names) -> OpState | Undoable:
    read = _begin(entry)
    read.text()
    path = names.path(read.list(lambda: _segment(read)))
    about = _Metadata(metadata)
    kind = _KINDS[read.uint()]
    op = OpState(path, "step", about.opened_seq, about.opened_at)
    op.status, op.error, op.attempts = about.status, about.error, max(1, about.attempts)
    op.closed_seq, op.closed_at = about.closed_seq, about.closed_at
    op.order = 0 if op.status in ("open", "cancelled") else about.closed_seq
    if kind == "step" and not about.opened_seq:
        return _read_undoable(read, about)
    _READ[kind](read, op)
    if op.status != "open" and op.kind == "version":
        op.order = 0
    if op.kind == "update":
        op.order = op.opened_seq
    return op


class _Metadata:
    def __init__(self, metadata: bytes) -> None:
        read = _begin(metadata)
        status = _STATUSES[read.uint()]
        error = read.optional(read.data)
        self.attempts = read.fixed(4)
        read.fixed(8)
        self.opened_at = Millis(read.fixed(8))
        closed_at = read.optional(lambda: read.fixed(8))
        self.closed_at = None if closed_at is None else Millis(closed_at)
        self.opened_seq = read.fixed(8)
        self.closed_seq = read.optional(lambda: read.fixed(8)) or 0
        found = None if error is None else msgspec.json.decode(cbor.to_json(error), type=ErrorInfo)
        self.error = found if status in ("failed", "exhausted") else None
        self.status: Any = _read_status(status, found)


def _read_status(status: str, error: ErrorInfo | None) -> str:
    if status in ("pending", "running"):
        return "open"
    if status == "completed":
        return "completed"
    return "cancelled" if error is None else "failed"


def _read_undoable(read: Reader, about: _Metadata) -> Undoable:
    output = read.optional(read.data)
    read.optional(read.text)
    undo = cbor.decode(read.optional(read.data) or b"\xf6")
    args = ABSENT if undo["args"] is None else Raw(plain(undo["args"]))
    return Undoable(
        undo["at"], undo["handler"], about.closed_seq, _raw(output or b""), args, undo["fn"], undo.get("era", 0)
    )


def _read_step(read: Reader, op: OpState) -> None:
    op.output = _raw(read.optional(read.data) or b"")
    read.optional(read.text)
    undo = read.optional(read.data)
    if undo is not None:
        found = cbor.decode(undo)
        op.undo, op.fn = found["handler"], found["fn"]
        op.args = ABSENT if found["args"] is None else Raw(plain(found["args"]))


def _read_loop(read: Reader, op: OpState) -> None:
    op.kind = "loop"
    op.state, op.iteration = _raw(read.data()), read.fixed(4)
    op.output = _raw(read.optional(read.data) or b"")


def _read_sleep(read: Reader, op: OpState) -> None:
    op.kind, op.deadline = "sleep", Millis(read.fixed(8))


def _read_message(read: Reader, op: OpState) -> None:
    op.kind = "message"
    read.text()
    found = cbor.decode(read.data())
    op.names, op.limit, op.deadline = found["names"], found["limit"], found["deadline"]
    if found["received"] is not None:
        op.received = msgspec.json.decode(plain(found["received"]), type=list[QueuedMessage])


def _read_join(read: Reader, op: OpState) -> None:
    op.kind, op.branches = "join", read.map(lambda: _branch(read))


def _read_race(read: Reader, op: OpState) -> None:
    op.kind, op.winner, op.branches = "race", read.optional(read.text), read.map(lambda: _branch(read))


def _read_version(read: Reader, op: OpState) -> None:
    op.kind, op.value = "version", read.fixed(4)


def _read_other(read: Reader, op: OpState) -> None:
    kind = read.text()
    if kind not in get_args(Kind):
        raise ValueError(f"an entry of the kind `{kind}`")
    op.kind = msgspec.convert(kind, Kind)
    found = cbor.decode(read.data())
    for name in ("args", "output"):
        if name in found:
            setattr(op, name, Raw(plain(found.pop(name))))
    for name, value in found.items():
        setattr(op, name, value)


_READ = {
    "step": _read_step,
    "loop": _read_loop,
    "sleep": _read_sleep,
    "message": _read_message,
    "join": _read_join,
    "race": _read_race,
    "version": _read_version,
    "other": _read_other,
}


def _branch(read: Reader) -> Branch:
    status = _BRANCHES[read.uint()]
    output, error = read.optional(read.data), read.optional(read.data)
    return Branch(
        msgspec.convert("open" if status in ("pending", "running") else status, type=Any),
        _raw(output or b""),
        None if error is None else msgspec.json.decode(cbor.to_json(error), type=ErrorInfo),
    )


def _segment(read: Reader) -> Part:
    return (read.fixed(4), read.fixed(4)) if read.uint() else read.fixed(4)


def _raw(body: bytes) -> Raw:
    return cbor.to_json(body) if body else ABSENT


def _begin(body: bytes) -> Reader:
    read = Reader(body)
    version = read.fixed(2)
    if version > SCHEMA:
        raise ValueError(f"an entry of schema {version}: this release reads up to {SCHEMA}")
    return read


# -- messages ----------------------------------------------------------------------------------------------------------


def message_of(message: QueuedMessage) -> bytes:
    out = Writer()
    out.fixed(SCHEMA, 2)
    out.text(message.id)
    out.text(message.name)
    out.data(_value(message.body))
    out.fixed(message.sent_at, 8)
    return out.bytes()


def read_message(body: bytes, number: int) -> QueuedMessage:
    read = _begin(body)
    return QueuedMessage(read.text(), read.text(), _raw(read.data()), Millis(read.fixed(8)), number)
