"""Reports of workers: the shape of a result, and whether it may count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from plait.api.claim_id import ClaimId, namespace_of, read
from plait.api.task import TaskFailure, TaskReport
from plait.kernel import values
from plait.kernel.errors import InvalidInput, NotFound
from plait.kernel.ids import caller_id
from plait.kernel.queued import HeldTask
from plait.kernel.task_inputs import PYTHON, ROUTE, STEP

from .signing_keys import KeyRing
from .source import WORKER

_SIGNATURE = ("signature", "signed_by")
REJECTED = "token.rejected"
"""The error type of a worker that rejected an envelope."""
_Text = Annotated[str, Meta(max_length=10_000)]


class SignalError(msgspec.Struct, frozen=True):
    message: _Text = ""
    type: Annotated[str, Meta(max_length=400)] = ""
    retryable: bool = True


class JournalEntry(msgspec.Struct, frozen=True):
    """A result of an agent's attempt, after which a restart continues."""

    index: Annotated[int, Meta(ge=0)]
    entry: Any
    says: Annotated[str, Meta(max_length=1_000)] = ""


class Signal(msgspec.Struct, frozen=True, kw_only=True):
    """One result. Unknown fields are ignored."""

    run_id: str = ""
    """Optional if `job_id` contains it."""
    status: Literal["completed", "failed", "working"]
    """`working`: the job continues, and has an entry for its journal."""
    node_id: str = ""
    token_id: str = ""
    """Optional if only one task of the node is in flight."""
    attempt: int | None = None
    job_id: str = ""
    result_data: Any = None
    result_ref: str = ""
    error: SignalError = SignalError()
    next_nodes: list[str] | None = None
    reasoning: Annotated[str, Meta(max_length=10_000)] | None = None
    metadata: Any = None
    """Metadata of an agent: tokens, tools."""
    journal: JournalEntry | None = None
    signature: str = ""
    signed_by: str = ""

    @property
    def refuses_envelope(self) -> bool:
        return self.status == "failed" and self.error.type == REJECTED


class _Place(msgspec.Struct, frozen=True):
    status: str = ""
    run_id: str = ""
    node_id: str = ""
    token_id: str = ""
    attempt: int | None = None
    job_id: str = ""


@dataclass(frozen=True, slots=True)
class Counts:
    """The result belongs to this task, and counts."""

    held: HeldTask


@dataclass(frozen=True, slots=True)
class Refused:
    reason: str
    held: HeldTask | None = None
    """The task that it claims to belong to."""


@dataclass(frozen=True, slots=True)
class Late:
    """A result of a task that is settled or in another attempt by now."""


def parse(raw: bytes) -> tuple[Signal, Mapping[str, Any]]:
    """A result, and its document as signed. Raises `InvalidInput`."""
    document = values.parse(raw)
    try:
        return _located(msgspec.convert(document, Signal)), document
    except (msgspec.ValidationError, NotFound) as error:
        raise InvalidInput("redis.bad_signal", "this is not a result", why=str(error)) from None


def parse_place(raw: bytes) -> Signal:
    """Only whose result it is, of one that is too large to be read as a whole. Raises `InvalidInput`."""
    try:
        place = msgspec.json.decode(raw, type=_Place)
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidInput("redis.bad_signal", "this is not a result", why=str(error)) from None
    signal, _ = parse(values.plain(place))
    return signal


def _located(signal: Signal) -> Signal:
    """Fills in the run, token and attempt from the job's id, for workers that send back nothing else."""
    if signal.run_id:
        return signal
    claim = read(signal.job_id, namespace_of(signal.job_id))
    return msgspec.structs.replace(signal, run_id=caller_id(claim.run_id), token_id=claim.token, attempt=claim.attempt)


def is_genuine(signal: Signal, document: Mapping[str, Any], ring: KeyRing, *, required: bool) -> bool:
    """Whether the signature is valid. One that is given must be, whether or not it is required."""
    if not signal.signature and not signal.signed_by:
        return not required
    body = {name: value for name, value in document.items() if name not in _SIGNATURE}
    return ring.verifies(body, signal.signature, signal.signed_by)


def judge(signal: Signal, rows: Sequence[HeldTask], *, genuine: bool) -> Counts | Refused | Late:
    """Whether a result counts. `rows`: the run's queued tasks, only that of the token if it names one."""
    leased = [row for row in rows if row.worker == WORKER]
    if signal.token_id:
        found = [row for row in leased if row.task.token == signal.token_id]
    else:
        found = [row for row in leased if (row.task.node or row.task.token) == signal.node_id]
    if not genuine:
        return Refused("the signature of the result is missing or wrong", found[0] if len(found) == 1 else None)
    if not signal.token_id and len(found) != 1:
        return Refused(f"a result without token_id, and {len(found)} tokens of `{signal.node_id}` are leased")
    if not found:
        return Late()
    [row] = found
    if signal.attempt is not None and signal.attempt > row.task.attempt:
        return Refused(f"a result of attempt {signal.attempt}, which has not begun", row)
    return Late() if signal.attempt not in (None, row.task.attempt) else Counts(row)


def report_of(signal: Signal, held: HeldTask, output: object) -> TaskReport:
    task = held.task
    id = ClaimId.of(task, held.claim or "").text()
    if signal.status == "failed":
        failure = TaskFailure(message=signal.error.message or "the worker gave no reason", type=signal.error.type)
        return TaskReport(id=id, error=failure, retryable=signal.error.retryable)
    if signal.next_nodes is not None and task.kind not in (PYTHON, STEP):
        output = {ROUTE: {"output": output, "next_nodes": signal.next_nodes}}
    return TaskReport(id=id, output=output)
