"""The group commit on SQLite: the writes of many runs as one transaction.

The rows of all writes are first gathered by table, so that a thousand decisions cost a handful of statements. Only if
one of them breaks a constraint are they written one by one, to find out which; that never happens to a healthy owner.
"""

# apsw's types name `collections.abc.Buffer`, which Python 3.11 does not have.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import repeat
from typing import assert_never

import apsw
import msgspec

from plait.kernel.approval import Approval, ApprovalChange
from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import RunId
from plait.kernel.store import COMPACTED, InboxRow, NewChild, RecordChange, RunRow, Verdict, Write
from plait.stores import statements
from plait.stores.log_rows import log_columns
from plait.stores.record_versions import RecordChanged
from plait.stores.rows import (
    Row,
    approval_change_columns,
    approval_columns,
    dead_letter_columns,
    inbox_columns,
    label_columns,
    line_columns,
    patch_columns,
    record_columns,
    reply_column,
    run_columns,
)
from plait.stores.run_numbers import RunNumbers

from .database import atomic, undo
from .many_rows import insert_rows
from .removals import NotRemovable, write_references, write_removal
from .run_queues import NotWaiting, insert_held, is_refused, is_taken, is_waiting, leave, put, write_place
from .run_texts import index_error, index_new_runs, is_due
from .task_queues import ClaimLost, has_results, write_queues

SQL = statements.load("plait.stores.sqlite", "statements.sql")
_by_shard = msgspec.json.Decoder(dict[int, int])


def commit(db: apsw.Connection, numbers: RunNumbers, writes: Sequence[Write]) -> list[Verdict]:
    # As `atomic`, without its costs: this is the hot path
    db.execute("begin immediate")
    try:
        verdicts = _fence(db, writes)
        sound = writes
        if "fenced" in verdicts:
            sound = [write for write, verdict in zip(writes, verdicts, strict=True) if verdict == "ok"]
        found = _apply(db, numbers, sound)
        db.execute("commit")
    except (apsw.ConstraintError, ClaimLost, NotRemovable, NotWaiting, RecordChanged):
        undo(db)
        return _commit_apart(db, numbers, writes)
    except BaseException:
        undo(db)
        raise
    if found:
        numbers.remember(found)
    return verdicts


def _commit_apart(db: apsw.Connection, numbers: RunNumbers, writes: Sequence[Write]) -> list[Verdict]:
    """Applies each write in its own savepoint, in one transaction."""
    with atomic(db):
        verdicts = _fence(db, writes)
        return [
            _apply_one(db, numbers, write) if verdict == "ok" else verdict
            for write, verdict in zip(writes, verdicts, strict=True)
        ]


def _fence(db: apsw.Connection, writes: Sequence[Write]) -> list[Verdict]:
    if len(writes) == 1 and writes[0].epoch is not None:
        epochs = dict(db.execute(SQL["epoch_of"], (writes[0].shard,)))
    else:
        [(text,)] = db.execute(SQL["epochs"])
        epochs = _epochs(text)
    return ["ok" if write.epoch is None or epochs[write.shard] == write.epoch else "fenced" for write in writes]


@lru_cache(maxsize=8)
def _epochs(text: str) -> dict[int, int]:
    """Epochs by shard. Every group commit reads them, and they change only when an owner does."""
    return _by_shard.decode(text)


def _apply_one(db: apsw.Connection, numbers: RunNumbers, write: Write) -> Verdict:
    try:
        with atomic(db):
            _apply(db, numbers, [write])
    except ClaimLost:
        return "exists" if has_results(db, write) else "conflict"
    except (NotRemovable, NotWaiting, RecordChanged):
        return "conflict"
    except apsw.ConstraintError:
        return "exists" if write.create is not None else "conflict"
    return "ok"


def _apply(db: apsw.Connection, numbers: RunNumbers, writes: Sequence[Write]) -> dict[RunId, int]:
    """Returns the numbers of the runs that were not known."""
    created = [write.create for write in writes if write.create is not None]
    found = _insert_runs(db, created) if created else {}
    logs: list[Row] = []
    patches: list[Row] = []
    failures: list[tuple[int, ErrorInfo]] = []
    known = numbers.get
    rest: list[Write] = []
    for write in writes:
        log, patch = write.log, write.patch
        if not write.plain:
            rest.append(write)
            if log is None and patch is None and not write.copies:
                continue
        number = known(write.run_id) or _number(db, write.run_id, found)
        if log is not None:
            logs.append(log_columns(number, log))
        if write.copies:
            logs += map(log_columns, repeat(number), write.copies)
        if patch is not None:
            patches.append(patch_columns(number, patch))
            error = patch.error or patch.blocked
            if error is not None and number is not None:
                failures.append((number, error))
    if logs:
        insert_rows(db, SQL["insert_log"], logs)
    for number, error in failures:
        index_error(db, number, error)
    if patches:
        insert_rows(db, SQL["patch_runs"], patches, one=SQL["patch_run"])
    for write in rest:
        _apply_rest(db, write)
        if write.removal is not None:
            write_removal(db, numbers, write.run_id, write.removal)
    return found


def _insert_runs(db: apsw.Connection, created: Sequence[RunRow]) -> dict[RunId, int]:
    """Inserts runs; returns their numbers. SQLite counts on from the highest number, and nobody else writes
    meanwhile."""
    insert_rows(db, SQL["insert_run"], [run_columns(row) for row in created])
    last = db.last_insert_rowid()
    first = last - len(created) + 1
    _insert_labels(db, created)
    if is_due(first, last):
        index_new_runs(db)
    return {row.id: first + place for place, row in enumerate(created)}


def _number(db: apsw.Connection, run_id: RunId, found: dict[RunId, int]) -> int | None:
    """The number of a run that is new or was not used recently; None if there is none."""
    if run_id not in found:
        row = db.execute(SQL["number_of"], (run_id,)).fetchone()
        if row is None:
            return None
        found[run_id] = row[0]
    return found[run_id]


def _insert_labels(db: apsw.Connection, created: Sequence[RunRow]) -> None:
    labels = [columns for row in created if row.labels for columns in label_columns(row)]
    if labels:
        db.executemany(SQL["insert_label"], labels)


def _apply_rest(db: apsw.Connection, write: Write) -> None:
    run_id = write.run_id
    if write.blobs:
        db.executemany(SQL["insert_blob"], write.blobs)
    if write.blobs or write.shared:
        write_references(db, write)
    if write.clear_all:
        db.execute(SQL["clear_timers"], (run_id,))
    if write.cleared:
        db.executemany(SQL["clear_timer"], [(run_id, token) for token in write.cleared])
    if write.timers:
        db.executemany(SQL["set_timer"], [(t.run_id, t.token, t.shard, t.due) for t in write.timers])
    if write.taken:
        db.executemany(SQL["take_inbox"], [(run_id, t.key, reply_column(t)) for t in write.taken])
    for child in write.children:
        _insert_child(db, child)
    for row in write.inbox:
        _insert_inbox(db, row)
    for approval in write.approvals:
        _write_approval(db, run_id, approval)
    if write.dead_letters:
        db.executemany(SQL["insert_dead_letter"], [dead_letter_columns(d) for d in write.dead_letters])
    if write.settled:
        db.executemany(SQL["settle_dead_letter"], [(s.id, s.status) for s in write.settled])
    if write.snapshot is not None:
        snapshot = write.snapshot
        db.execute(SQL["put_snapshot"], (run_id, snapshot.seq, snapshot.at, snapshot.body.decode()))
    if write.compaction is not None:
        upto, text = write.compaction.upto, COMPACTED.decode()
        db.execute(SQL["drop_compacted"], (run_id, upto))
        db.execute(SQL["mark_compacted"], (run_id, upto, write.compaction.at, text))
    if write.lines:
        db.executemany(SQL["insert_line"], [line_columns(line) for line in write.lines])
    for change in write.records:
        _change_record(db, change)
    if write.queued or write.dequeued or write.finished is not None:
        write_queues(db, write)
    if write.place is not None or write.leaves_queue or write.debounce is not None:
        write_place(db, write)


def _write_approval(db: apsw.Connection, run_id: RunId, approval: Approval | ApprovalChange) -> None:
    if isinstance(approval, Approval):
        db.execute(SQL["insert_approval"], approval_columns(approval))
    elif approval.token is None:
        db.execute(SQL["withdraw_approvals"], (run_id, approval.at))
    else:
        db.execute(SQL["change_approval"], approval_change_columns(run_id, approval))


def _change_record(db: apsw.Connection, change: RecordChange) -> None:
    record = change.record
    if change.expected is not None:
        found = db.execute(SQL["record_time"], (record.kind, record.namespace, record.id)).fetchone()
        if found != (change.expected,):
            raise RecordChanged
    match change.how:
        case "put":
            db.execute(SQL["put_record"], record_columns(record))
        case "new":
            db.execute(SQL["insert_record"], record_columns(record))
        case "remove":
            db.execute(SQL["remove_record"], (record.kind, record.namespace, record.id))
        case "check":
            pass
        case _:
            assert_never(change.how)


def _insert_inbox(db: apsw.Connection, row: InboxRow) -> None:
    if row.fallback is not None:
        found = db.execute(SQL["status_of"], (row.run_id,)).fetchone()
        if found is None or found[0] != "running":
            db.execute(SQL["insert_dead_letter"], dead_letter_columns(row.fallback))
            return
    if row.withdraws:
        leave(db, row.run_id)
    elif (row.behind or row.fallback is not None) and is_waiting(db, row):
        insert_held(db, row)
        return
    db.execute(SQL["insert_inbox"], inbox_columns(row))


def _has_run(db: apsw.Connection, run_id: RunId) -> bool:
    return db.execute(SQL["child_of"], (run_id,)).fetchone() is not None


def _insert_child(db: apsw.Connection, child: NewChild) -> None:
    row, queueing = child.row, child.queueing
    if queueing is not None and not _has_run(db, row.id):
        if is_refused(db, child):
            return
        if is_taken(db, queueing.place):
            _insert_inbox(db, queueing.duplicate)
            return
    db.execute(SQL["insert_child"], run_columns(row))
    if db.changes():
        number = db.last_insert_rowid()
        _insert_labels(db, [row])
        if is_due(number, number):
            index_new_runs(db)
        _insert_inbox(db, child.start)
        if queueing is not None:
            put(db, row.id, queueing.place, row.created_at)
            if queueing.announcement is not None:
                _insert_inbox(db, queueing.announcement)
        return
    found = db.execute(SQL["child_of"], (row.id,)).fetchone()
    if found != (row.parent, row.parent_token):
        _insert_inbox(db, child.refusal)
