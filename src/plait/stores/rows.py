"""Between the kernel's rows and a table's columns, which are the same in every SQL store: JSON is kept as text."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from plait.kernel import values
from plait.kernel.errors import ErrorInfo
from plait.kernel.store import DeadLetter, Line, Question, Record, RunPatch, RunRow, Taken
from plait.kernel.values import ABSENT

Row = tuple[Any, ...]

_error = msgspec.json.Decoder(ErrorInfo)
_labels = msgspec.json.Decoder(dict[str, str])


def text(value: bytes | Raw) -> str:
    return bytes(value).decode()


def json_text(value: object) -> str:
    return values.plain(value).decode()


def error_of(column: str | None) -> ErrorInfo | None:
    return None if column is None else _error.decode(column)


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
    )


def patch_columns(run_id: str, patch: RunPatch) -> Row:
    return (
        run_id,
        patch.status,
        patch.awake,
        patch.ended_at,
        None if patch.output is None else json_text(patch.output),
        None if patch.error is None else json_text(patch.error),
        None if patch.blocked is None else json_text(patch.blocked),
        patch.recoveries,
        patch.full,
    )


def run_row(row: Row) -> RunRow:
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
        labels=_labels.decode(row[11]),
        start_hash=row[12],
        created_at=row[13],
        ended_at=row[14],
        deadline=row[15],
        output=None if row[16] is None else Raw(row[16].encode()),
        error=error_of(row[17]),
        blocked=error_of(row[18]),
        recoveries=row[19],
        full=bool(row[20]),
    )


def question_columns(question: Question) -> Row:
    return (
        question.id,
        question.run_id,
        question.namespace,
        question.token,
        question.title,
        question.by,
        question.asked_at,
        question.deadline,
        text(question.form) if question.form else None,
        text(question.evidence) if question.evidence else None,
    )


def question(row: Row) -> Question:
    *facts, form, evidence = row
    return Question(*facts, *(ABSENT if value is None else Raw(value.encode()) for value in (form, evidence)))


def line_columns(line: Line) -> Row:
    return (line.run_id, line.node, line.attempt, line.at, line.level, line.text)


def record_columns(record: Record) -> Row:
    return (record.kind, record.namespace, record.id, record.at, bytes(record.body).decode())


def record(row: Row) -> Record:
    return Record(row[0], row[1], row[2], Raw(row[3].encode()), row[4])


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
    run_id, namespace, token, label, attempts, error, at, status = row[1:]
    return DeadLetter(row[0], run_id, namespace, token, label, attempts, _error.decode(error), at, status)


def reply_column(taken: Taken) -> str | None:
    """Empty where the answer is still to come: no JSON text is."""
    if taken.later:
        return ""
    return None if taken.reply is None else text(taken.reply)
