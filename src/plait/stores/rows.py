"""Conversion between the kernel's rows and a table's columns, the same for every SQL store: JSON is stored as text."""

from __future__ import annotations

from typing import get_args

import msgspec
from msgspec import Raw

from plait.kernel import values
from plait.kernel.approval import Approval, ApprovalChange, ApprovalFilter, Delegation, Escalation, Vote
from plait.kernel.errors import Damaged, ErrorInfo
from plait.kernel.ids import Millis, RunId, Shard, caller_id
from plait.kernel.past import Past
from plait.kernel.store import (
    DeadLetter,
    DeadLetterStatus,
    InboxRow,
    Line,
    Record,
    RunPatch,
    RunRow,
    Snapshot,
    Taken,
    TimerRow,
)
from plait.kernel.view import Reason, RunStatus

from .columns import MAYBE_NUMBER, MAYBE_TEXT, Row, Types, check_types, damaged, decoded, raw

_error = msgspec.json.Decoder(ErrorInfo)
_labels = msgspec.json.Decoder(dict[str, str])
_names = msgspec.json.Decoder(tuple[str, ...])
_escalations = msgspec.json.Decoder(tuple[Escalation, ...])
_delegations = msgspec.json.Decoder(tuple[Delegation, ...])
_votes = msgspec.json.Decoder(tuple[Vote, ...])
_past = msgspec.json.Decoder(Past)
_wait = msgspec.json.Decoder(tuple[str, str, Millis | None])

CREATED_AT, NUMBER = 13, 21
"""Column positions in a run's row: its creation time, and its number, which only stores know."""

STATUSES = frozenset(get_args(RunStatus))
APPROVAL_STATUSES = frozenset({"open", "approved", "rejected", "expired", "withdrawn"})
LETTER_STATUSES = frozenset(get_args(DeadLetterStatus))
_RUN: Types = {
    0: ("id", str),
    1: ("namespace", str),
    2: ("dialect", str),
    3: ("definition", str),
    4: ("version", MAYBE_TEXT),
    5: ("shard", int),
    6: ("status", str),
    8: ("parent", MAYBE_TEXT),
    9: ("parent_token", MAYBE_TEXT),
    10: ("depth", int),
    12: ("start_hash", str),
    13: ("created_at", int),
    14: ("ended_at", MAYBE_NUMBER),
    15: ("deadline", MAYBE_NUMBER),
    16: ("output", MAYBE_TEXT),
    19: ("recoveries", int),
}
_APPROVAL: Types = {
    0: ("id", str),
    1: ("run_id", str),
    2: ("namespace", str),
    3: ("token", str),
    4: ("title", str),
    5: ("asked", str),
    6: ("asked_at", int),
    7: ("deadline", MAYBE_NUMBER),
    10: ("required", int),
    13: ("level", int),
    14: ("status", str),
    16: ("decided_at", MAYBE_NUMBER),
    17: ("decided_by", str),
}
_LETTER: Types = {
    0: ("id", str),
    1: ("run_id", str),
    2: ("namespace", str),
    3: ("token", str),
    4: ("label", str),
    5: ("attempts", int),
    7: ("at", int),
    8: ("status", str),
}
_RECORD: Types = {0: ("kind", str), 1: ("namespace", str), 2: ("id", str), 3: ("body", str), 4: ("at", int)}
_SNAPSHOT: Types = {0: ("seq", int), 1: ("at", int), 2: ("body", str)}
_INPUT: Types = {0: ("run_id", str), 1: ("shard", int), 2: ("key", str), 3: ("body", str), 4: ("at", int)}
_TIMER: Types = {0: ("run_id", str), 1: ("shard", int), 2: ("token", str), 3: ("due", int)}
_LINE: Types = {1: ("node", str), 2: ("attempt", int), 3: ("at", int), 4: ("level", str), 5: ("text", str)}

_FIRST, _LAST = (-1, ""), (2**62, "")
"""Before and after all possible rows."""


def text(value: bytes | Raw) -> str:
    return bytes(value).decode()


def json_text(value: object) -> str:
    return values.plain(value).decode()


def error_of(column: str | None, whose: str) -> ErrorInfo | None:
    return None if column is None else decoded(_error, column, whose)


def run_columns(row: RunRow) -> Row:
    return (
        row.id,
        row.namespace,
        row.dialect,
        row.definition,
        row.version,
        row.shard,
        row.status,
        row.awake,
        row.parent,
        row.parent_token,
        row.depth,
        json_text(row.labels) if row.labels else "{}",
        row.start_hash,
        row.created_at,
        row.ended_at,
        row.deadline,
        None if row.output is None else json_text(row.output),
        None if row.error is None else json_text(row.error),
        None if row.blocked is None else json_text(row.blocked),
        row.recoveries,
        row.full,
        _wait_text(row.waiting),
        None if row.past is None else json_text(row.past),
    )


def labels_of(column: str, run_id: str) -> dict[str, str]:
    return decoded(_labels, column, caller_id(RunId(run_id)))


def label_columns(row: RunRow) -> list[Row]:
    return [(row.namespace, key, value, row.created_at, row.id) for key, value in row.labels.items()]


def patch_columns(run: str | int | None, patch: RunPatch) -> Row:
    """The columns of a patch. `run` is what the table is searched by: the id of a run, or its number."""
    return (
        run,
        patch.status,
        patch.awake,
        patch.ended_at,
        None if patch.output is None else json_text(patch.output),
        None if patch.error is None else json_text(patch.error),
        None if patch.blocked is None else json_text(patch.blocked),
        patch.recoveries,
        patch.full,
        _wait_text(patch.waiting),
        None if patch.past is None else json_text(patch.past),
    )


def run_row(row: Row) -> RunRow:
    """The row of a run; raises if it was changed by hand or by a bad disk."""
    whose = f"run {caller_id(RunId(str(row[0])))}"
    check_types(row, _RUN, whose)
    if row[6] not in STATUSES:
        raise damaged(whose, f"its status is {row[6]!r}")
    return RunRow(
        id=row[0],
        namespace=row[1],
        dialect=row[2],
        definition=row[3],
        version=row[4],
        shard=row[5],
        status=row[6],
        awake=bool(row[7]),
        parent=row[8],
        parent_token=row[9],
        depth=row[10],
        labels=decoded(_labels, row[11], whose),
        start_hash=row[12],
        created_at=row[13],
        ended_at=row[14],
        deadline=row[15],
        output=None if row[16] is None else Raw(row[16].encode()),
        error=error_of(row[17], whose),
        blocked=error_of(row[18], whose),
        recoveries=row[19],
        full=bool(row[20]),
        waiting=_wait_reason(row[22], whose),
        past=None if row[23] is None else decoded(_past, row[23], whose),
        claimed=bool(row[24]),
    )


def checked_output(row: RunRow) -> RunRow:
    """Checks the output. Lists don't show outputs, so only reading one run pays for this."""
    if row.output is not None:
        raw(text(row.output), f"run {caller_id(row.id)}")
    return row


def _wait_text(reason: Reason | None) -> str | None:
    """The wait reason as short text: a hundred thousand sleeping runs have one each."""
    return None if reason is None else json_text((reason.kind, reason.text, reason.until))


def _wait_reason(column: str | None, whose: str) -> Reason | None:
    if column is None:
        return None
    kind, text, until = decoded(_wait, column, whose)
    return Reason(kind, text, until=until)


def approval_columns(approval: Approval) -> Row:
    return (
        approval.id,
        approval.run_id,
        approval.namespace,
        approval.token,
        approval.title,
        approval.by,
        approval.asked_at,
        approval.deadline,
        _given(approval.form),
        _given(approval.evidence),
        approval.required,
        json_text(approval.approvers),
        json_text(approval.escalations),
        approval.level,
        approval.status,
        json_text(approval.votes),
        approval.decided_at,
        approval.decided_by,
        _given(approval.answer),
        json_text(approval.delegations),
    )


def approval(row: Row) -> Approval:
    whose = f"approval {row[0]}"
    check_types(row, _APPROVAL, whose)
    if row[14] not in APPROVAL_STATUSES:
        raise damaged(whose, f"its status is {row[14]!r}")
    return Approval(
        id=row[0],
        run_id=row[1],
        namespace=row[2],
        token=row[3],
        title=row[4],
        by=row[5],
        asked_at=row[6],
        deadline=row[7],
        form=raw(row[8], whose),
        evidence=raw(row[9], whose),
        required=row[10],
        approvers=decoded(_names, row[11], whose),
        escalations=decoded(_escalations, row[12], whose),
        level=row[13],
        status=row[14],
        votes=decoded(_votes, row[15], whose),
        decided_at=row[16],
        decided_by=row[17],
        answer=raw(row[18], whose),
        delegations=decoded(_delegations, row[19], whose),
    )


def approval_change_columns(run_id: str, change: ApprovalChange) -> Row:
    return (
        run_id,
        change.token,
        change.status,
        None if change.status == "open" else change.at,
        change.by,
        _given(change.answer),
        None if change.votes is None else json_text(change.votes),
        None if change.approvers is None else json_text(change.approvers),
        change.level,
        None if change.delegations is None else json_text(change.delegations),
    )


def approval_query(query: ApprovalFilter) -> Row:
    """The statement that lists approvals, and its arguments before the limit."""
    at, id = query.after or (_LAST if query.newest_first else _FIRST)
    if query.run_id is not None:
        return ("list_approvals_of_run", query.run_id, query.status, at, id)
    if query.status is None:
        return ("list_all_approvals", query.namespace, at, id)
    name = "list_newest_approvals" if query.newest_first else "list_approvals"
    return (name, query.namespace, query.status, at, id)


def dead_letter_query(
    namespace: str | None, run_id: str | None, status: str | None, after: tuple[int, str] | None
) -> Row:
    """The statement that lists dead letters, and its arguments before the limit."""
    at, id = after or _FIRST
    if run_id is not None:
        return ("list_dead_letters_of_run", namespace, status, run_id, at, id)
    if namespace is None:
        return ("list_all_dead_letters", status, at, id)
    if status is None:
        return ("list_dead_letters_of_namespace", namespace, at, id)
    return ("list_dead_letters", namespace, status, at, id)


def record_query(kind: str, namespace: str | None, after: str | None, *, newest: bool) -> Row:
    """The statement that lists records, and its arguments before the limit."""
    order = "_newest" if newest else ""
    if namespace is None:
        return (f"list_records{order}", kind, after)
    return (f"list_records_of_namespace{order}", kind, after, namespace)


def _given(value: Raw) -> str | None:
    return text(value) if value else None


def line_columns(line: Line) -> Row:
    return (line.run_id, line.node, line.attempt, line.at, line.level, line.text)


def line(row: Row) -> Line:
    check_types(row, _LINE, f"line {row[6]} of run {caller_id(RunId(str(row[0])))}")
    return Line(*row)


def record_columns(record: Record) -> Row:
    return (record.kind, record.namespace, record.id, record.at, bytes(record.body).decode())


def record(row: Row) -> Record:
    """A record; a damaged one has no body, so that reading it raises: a list must not omit it."""
    kind, namespace, id, body, at = row
    try:
        check_types(row, _RECORD, "a record")
    except Damaged:
        return Record(str(kind), str(namespace), str(id), Raw(b""), Millis(0))
    return Record(kind, namespace, id, Raw(body.encode()), at)


def inbox_columns(row: InboxRow) -> Row:
    return row.run_id, row.shard, row.key, row.body.decode(), row.at


def inbox_row(row: Row) -> InboxRow:
    """An inbox row; a damaged one has no body: no engine can read it, so it waits without blocking later ones."""
    try:
        check_types(row, _INPUT, "an input")
    except Damaged:
        return InboxRow(RunId(str(row[0])), Shard(0), str(row[2]), b"", Millis(0))
    return InboxRow(row[0], row[1], row[2], row[3].encode(), row[4])


def timer_row(row: Row) -> TimerRow:
    check_types(row, _TIMER, f"timer {row[2]} of run {caller_id(RunId(str(row[0])))}")
    return TimerRow(*row)


def snapshot(run_id: RunId, row: Row) -> Snapshot:
    check_types(row, _SNAPSHOT, f"the snapshot of run {caller_id(run_id)}")
    return Snapshot(row[0], row[1], row[2].encode())


def dead_letter_columns(letter: DeadLetter) -> Row:
    return (
        letter.id,
        letter.run_id,
        letter.namespace,
        letter.token,
        letter.label,
        letter.attempts,
        json_text(letter.error),
        letter.at,
        letter.status,
    )


def dead_letter(row: Row) -> DeadLetter:
    whose = f"dead letter {row[0]}"
    check_types(row, _LETTER, whose)
    run_id, namespace, token, label, attempts, error, at, status = row[1:]
    if status not in LETTER_STATUSES:
        raise damaged(whose, f"its status is {status!r}")
    cause = decoded(_error, error, whose)
    return DeadLetter(row[0], run_id, namespace, token, label, attempts, cause, at, status)


def reply_column(taken: Taken) -> str | None:
    """The reply; empty, which no JSON text is, if the answer is still to come."""
    if taken.later:
        return ""
    return None if taken.reply is None else text(taken.reply)
