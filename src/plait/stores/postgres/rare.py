"""Rows that few decisions have: one statement per table, after the common ones and in the same transaction.

A statement may not touch a row twice, so of two rows with one key only the last is written, with the same result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, zip_longest
from typing import Any

from plait.kernel.approval import Approval, ApprovalChange
from plait.kernel.ids import Millis, RunId
from plait.kernel.store import COMPACTED, DeadLetter, InboxRow, NewChild, Record, RecordChange, RunRow, TimerRow, Write
from plait.stores.record_versions import RecordChanged
from plait.stores.rows import (
    Row,
    approval_change_columns,
    approval_columns,
    dead_letter_columns,
    inbox_columns,
    label_columns,
    line_columns,
    record_columns,
    run_columns,
)

from .database import SQL, Connection
from .fleet import write_moves
from .removals import write_references, write_removals
from .run_lists import SQL as LISTS
from .run_numbers import PostgresRunNumbers
from .run_queues import put_children, send_behind, started, withdraw, without_refused, write_places
from .run_texts import SQL as TEXTS
from .run_texts import has_text
from .task_queues import write_queues


def is_rare(write: Write) -> bool:
    """Whether it has rows beyond the common ones."""
    return bool(
        write.blobs
        or write.shared
        or write.pool is not None
        or write.removal is not None
        or write.children
        or (write.approvals and withdrawal(write) is None)
        or write.dead_letters
        or write.settled
        or write.snapshot is not None
        or write.compaction is not None
        or write.lines
        or write.records
        or write.queued
        or write.dequeued
        or write.finished is not None
        or write.place is not None
        or write.leaves_queue
        or write.debounce is not None
        or sends_late(write)
        or times_late(write)
    )


def sends_late(write: Write) -> bool:
    """Whether its inputs must wait for its children, or depend on the state of other runs."""
    return bool(write.inbox) and (bool(write.children) or any(map(_depends, write.inbox)))


def _depends(row: InboxRow) -> bool:
    return row.behind or row.withdraws or row.fallback is not None


def times_late(write: Write) -> bool:
    """Whether it sets timers that it may also clear: one statement can't delete a row and insert it again."""
    return bool(write.timers) and (write.clear_all or bool(write.cleared))


def withdrawal(write: Write) -> ApprovalChange | None:
    """The change that withdraws all open approvals, if it is the only one: the end of most runs that waited."""
    if len(write.approvals) != 1:
        return None
    [change] = write.approvals
    return change if isinstance(change, ApprovalChange) and change.token is None else None


async def write_rare(connection: Connection, numbers: PostgresRunNumbers, origin: str, writes: Sequence[Write]) -> None:
    """Writes the rare rows of different runs."""
    await _run(connection, "insert_blobs", sorted({d: (d, body) for w in writes for d, body in w.blobs}.values()))
    await write_references(connection, writes)
    timers = chain.from_iterable(write.timers for write in writes if times_late(write))
    await _run(connection, "set_timers", timer_columns(timers))
    answers = await _insert_children(connection, [child for write in writes for child in write.children])
    late = chain.from_iterable(write.inbox for write in writes if sends_late(write))
    await _send(connection, [*answers, *late])
    await _write_approvals(connection, [write for write in writes if withdrawal(write) is None])
    await _insert_dead_letters(connection, (letter for write in writes for letter in write.dead_letters))
    settled = {s.id: s.status for write in writes for s in write.settled}
    await _run(connection, "settle_dead_letters", settled.items())
    snapshots = ((w.run_id, s.seq, s.at, s.body.decode()) for w in writes if (s := w.snapshot) is not None)
    await _run(connection, "put_snapshots", snapshots)
    for write in writes:
        if write.compaction is not None:
            upto, number = write.compaction.upto, await numbers.of(connection, write.run_id)
            await connection.execute(SQL["drop_compacted"], number, upto)
            await connection.execute(SQL["mark_compacted"], number, upto, write.compaction.at, COMPACTED.decode())
    await _run(connection, "insert_lines", (line_columns(line) for write in writes for line in write.lines))
    await _change_records(connection, [change for write in writes for change in write.records])
    await write_queues(connection, writes)
    await write_moves(connection, origin, writes)
    await write_places(connection, writes)
    await write_removals(connection, numbers, writes)


async def _write_approvals(connection: Connection, writes: Sequence[Write]) -> None:
    """Writes the first change of every write, then the second of every write, and so on: a run's changes depend on
    their order."""
    for step in zip_longest(*([(write.run_id, each) for each in write.approvals] for write in writes)):
        found = [entry for entry in step if entry is not None]
        new = (approval_columns(each) for _, each in found if isinstance(each, Approval))
        await _run(connection, "insert_approvals", new)
        changes = [(run_id, each) for run_id, each in found if isinstance(each, ApprovalChange)]
        await _run(connection, "change_approvals", (approval_change_columns(*c) for c in changes if c[1].token))
        await _run(connection, "withdraw_approvals", ((run_id, each.at) for run_id, each in changes if not each.token))


async def _change_records(connection: Connection, changes: Sequence[RecordChange]) -> None:
    """Removes records first, so that one commit can replace a record by another."""
    await _hold_expected(connection, [(c.record, c.expected) for c in changes if c.expected is not None])
    removed = {(c.record.kind, c.record.id, c.record.namespace) for c in changes if c.how == "remove"}
    names = ((kind, namespace, id) for kind, id, namespace in sorted(removed))  # all in one order, see hold_records
    await _run(connection, "remove_records", names)
    await _run(connection, "insert_records", (record_columns(c.record) for c in changes if c.how == "new"))
    latest = {(c.record.kind, c.record.namespace, c.record.id): c.record for c in changes if c.how == "put"}
    await _run(connection, "put_records", (record_columns(record) for record in latest.values()))


async def _hold_expected(connection: Connection, wanted: Sequence[tuple[Record, Millis]]) -> None:
    if wanted:
        asked = [(record.kind, record.namespace, record.id, at) for record, at in wanted]
        if len(await connection.fetch(SQL["hold_records"], *columns(asked))) < len(asked):
            raise RecordChanged


async def _insert_children(connection: Connection, children: Sequence[NewChild]) -> list[InboxRow]:
    """Inserts children. Returns the resulting inputs: a start for each new run, a refusal if the id is another
    run's."""
    children = await without_refused(connection, children)
    if not children:
        return []
    rows = [run_columns(child.row) for child in children]
    new = {record[0] for record in await connection.fetch(SQL["insert_children"], *columns(rows))}
    first = {child.row.id: child for child in reversed(children) if child.row.id in new}
    refused = await put_children(connection, [child for child in children if first.get(child.row.id) is child])
    if refused:
        await connection.execute(SQL["remove_children"], refused)
        new.difference_update(refused)
    await _index_children(connection, {run_id: child.row for run_id, child in first.items() if run_id in new})
    parents: dict[str, tuple[str, str]] = {}
    if len(new) < len(children):
        found = await connection.fetch(SQL["children_of"], [child.row.id for child in children])
        parents = {run_id: (parent, token) for run_id, parent, token in found}
    caused: list[InboxRow] = []
    for child in children:
        row = child.row
        if row.id in new:
            new.remove(row.id)  # of two children with one id, the first got it
            caused += started(child)
        elif row.id in refused and child.queueing is not None:
            caused.append(child.queueing.duplicate)
        elif parents.get(row.id) != (row.parent, row.parent_token):
            caused.append(child.refusal)
    return caused


async def _index_children(connection: Connection, children: Mapping[RunId, RunRow]) -> None:
    """Index rows of children, besides their run rows."""
    labels = [label for row in children.values() for label in label_columns(row)]
    if labels:
        await connection.execute(LISTS["add_labels"], *columns(labels))
    found = [run_id for run_id, row in children.items() if has_text(row)]
    if found:
        await connection.execute(TEXTS["add_due"], found)


async def _send(connection: Connection, rows: Sequence[InboxRow]) -> None:
    doubtful = [row.run_id for row in rows if row.fallback is not None]
    if doubtful:
        running = {record[0] for record in await connection.fetch(SQL["running"], doubtful)}
        lost = [row.fallback for row in rows if row.fallback is not None and row.run_id not in running]
        await _insert_dead_letters(connection, lost)
        rows = [row for row in rows if row.fallback is None or row.run_id in running]
    await withdraw(connection, [row.run_id for row in rows if row.withdraws])
    if any(map(_depends, rows)):
        await send_behind(connection, rows)
    else:
        await _run(connection, "insert_inbox", map(inbox_columns, rows))


async def _insert_dead_letters(connection: Connection, letters: Iterable[DeadLetter]) -> None:
    latest = {letter.id: letter for letter in letters}
    await _run(connection, "insert_dead_letters", (dead_letter_columns(letter) for letter in latest.values()))


async def _run(connection: Connection, name: str, rows: Iterable[Row]) -> None:
    found = list(rows)
    if found:
        await connection.execute(SQL[name], *columns(found))


def timer_columns(timers: Iterable[TimerRow]) -> list[Row]:
    latest = {(timer.run_id, timer.token): timer for timer in timers}
    return [(timer.run_id, timer.token, timer.shard, timer.due) for timer in latest.values()]


def columns(rows: Sequence[Row], width: int = 0) -> Sequence[Sequence[Any]]:
    """Rows as the arrays that `unnest` turns back into rows; `width` is the number of columns if there are no rows."""
    return list(zip(*rows, strict=True)) if rows else [()] * width
