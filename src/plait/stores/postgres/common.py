"""The common rows of many writes in one statement: the shortest that has all the parts needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from msgspec.structs import replace

from plait.kernel.ids import RunId
from plait.kernel.store import RunPatch, RunRow, TimerRow, Write
from plait.stores.log_rows import log_columns
from plait.stores.rows import Row, inbox_columns, label_columns, patch_columns, reply_column, run_columns

from .database import SQL, Connection
from .listener import News, notice
from .rare import columns, sends_late, timer_columns, times_late, withdrawal
from .run_numbers import PostgresRunNumbers
from .run_texts import has_error, has_text

Proof: TypeAlias = tuple[Sequence[int], Sequence[int]]
"""Shards, and the epochs that they must have."""
Numbers: TypeAlias = Mapping[RunId, int]
"""Numbers of runs that are new or were not used recently."""

_RUN, _LOG, _PATCH, _TAKEN, _SENT, _WITHDRAWN, _CLEARED, _TIMER = 24, 7, 11, 3, 5, 2, 2, 4
_LABEL = 5
"""Number of columns of each kind of row."""

_LOGS, _RUNS, _OTHERS = (SQL[name] for name in ("log_parts", "run_parts", "other_parts"))
_SHAPES = ((_LOGS,), (_LOGS, _RUNS), (_LOGS, _RUNS, _OTHERS))
COMMITS = [SQL["commit"].format(parts=", ".join(shape)) for shape in _SHAPES]
"""The statements for events alone; for runs and their events; for everything."""


@dataclass(frozen=True, slots=True)
class Session:
    """What all statements of a commit share."""

    connection: Connection
    numbers: PostgresRunNumbers
    origin: str


async def write_common(session: Session, writes: Sequence[Write], found: Numbers, proof: Proof) -> bool:
    """False if an epoch was refused; then nothing is written."""
    created = [_first_row(write.create, write) for write in writes if write.create is not None]
    failed: list[str] = []
    logs: list[Row] = []
    patches: list[Row] = []
    taken: list[Row] = []
    sent: list[Row] = []
    emptied: list[str] = []
    withdrawn = [(w.run_id, c.at) for w in writes if w.approvals and (c := withdrawal(w)) is not None]
    cleared: list[Row] = []
    timers: list[TimerRow] = []
    news: News | None = None
    known = session.numbers.get
    for write in writes:
        run_id = write.run_id
        if write.patch is not None and write.create is None:
            patches.append(patch_columns(run_id, write.patch))
            if has_error(write.patch):
                failed.append(run_id)
        if write.copies:
            logs += [log_columns(known(run_id) or found.get(run_id), copy) for copy in write.copies]
        if write.log is not None:
            logs.append(log_columns(known(run_id) or found.get(run_id), write.log))
        if write.taken:
            replies = {t.key: reply_column(t) for t in write.taken}
            taken += [(run_id, key, reply) for key, reply in replies.items()]
        if write.inbox and not sends_late(write):
            sent += map(inbox_columns, write.inbox)
        if write.clear_all:
            emptied.append(run_id)
        if write.cleared:
            cleared += [(run_id, token) for token in write.cleared]
        if write.timers and not times_late(write):
            timers += write.timers
        if news != "due":
            news = _news(write) or news
    labels = [label for row in created for label in label_columns(row)]
    indexed = [found[row.id] for row in created if has_text(row)]
    values = [*proof, notice(session.origin, news), *columns(logs, _LOG)]
    others = taken or sent or emptied or withdrawn or cleared or timers or labels
    if not (created or patches or others):
        return await session.connection.fetchval(COMMITS[0], *values)
    values += columns([(*run_columns(row), found[row.id]) for row in created], _RUN)
    values += (*columns(patches, _PATCH), indexed, failed)
    if not others:
        return await session.connection.fetchval(COMMITS[1], *values)
    return await session.connection.fetchval(
        COMMITS[2],
        *values,
        *columns(taken, _TAKEN),
        *columns(sent, _SENT),
        emptied,
        *columns(withdrawn, _WITHDRAWN),
        *columns(cleared, _CLEARED),
        *columns(timer_columns(timers), _TIMER),
        *columns(labels, _LABEL),
    )


def _first_row(row: RunRow, write: Write) -> RunRow:
    """A run's row after its first write: one statement can't insert a row and update it too."""
    patch = write.patch
    if patch is None:
        return row
    return replace(
        row,
        status=patch.status,
        awake=patch.awake,
        ended_at=patch.ended_at,
        output=patch.output,
        error=patch.error,
        blocked=patch.blocked,
        recoveries=patch.recoveries,
        full=patch.full,
        waiting=patch.waiting,
        past=patch.past,
    )


def _news(write: Write) -> News | None:
    """Whether to notify other processes: `due` for an input, an answer, a task, or a run that may be theirs now;
    `shown` if a run only started or changed its place in lists."""
    if (
        write.inbox
        or write.children
        or write.taken
        or write.queued
        or write.pool is not None
        or write.removal is not None
        or (write.create is not None and write.epoch is None)
        or any(change.news for change in write.records)
    ):
        return "due"
    shown = write.create is not None or (write.patch is not None and _is_shown(write.patch))
    return "shown" if shown else None


def _is_shown(patch: RunPatch) -> bool:
    return patch.status != "running" or patch.blocked is not None or patch.waiting is not None
