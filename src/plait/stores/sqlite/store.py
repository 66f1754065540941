"""The SQLite store.

One process writes at a time, and it commits on the event loop's own thread: handing the work to a thread costs more
than it saves while a commit takes well under a millisecond. On a disk with slow fsync the loop must not wait for it, so
the store times a few small commits when it becomes an owner, and moves all of them to a separate thread if they take
long. Lists are read by other threads: they may lead to many rows.

Which process may own shards is decided by a lock on a file beside the database: the operating system releases it when
the process dies, however it dies, so a successor starts at once and need not wait for a lease to expire.
"""

# apsw's types name `collections.abc.Buffer`, which Python 3.11 does not have.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import apsw

from plait.kernel.approval import Approval, ApprovalFilter
from plait.kernel.census import Census, Owner, Standing
from plait.kernel.clock import Clock, SystemClock
from plait.kernel.errors import Damaged, NotFound, Unavailable
from plait.kernel.fleet import Fleet
from plait.kernel.ids import SHARDS, Millis, RunId, Seq, Shard
from plait.kernel.leases import Lease
from plait.kernel.store import (
    SUSPECT_AFTER,
    DeadLetter,
    DeadLetterStatus,
    InboxRow,
    Line,
    LogRow,
    Record,
    RunFilter,
    RunRow,
    Snapshot,
    Taken,
    TimerRow,
    Verdict,
    Write,
)
from plait.stores import listed_rows, rows
from plait.stores.log_rows import log_row
from plait.stores.run_numbers import RunNumbers

from .commit import SQL, commit
from .database import Synchronous, atomic, check_file, connect, open_writer, raise_readable, readable_errors
from .owner_lock import OwnerLock
from .readers import Readers
from .removals import SqliteRemovals
from .run_lists import list_runs, namespaces
from .run_queues import SqliteRunQueues
from .run_texts import SQL as TEXTS
from .run_texts import index_new_runs
from .task_queues import SqliteTaskQueues
from .undecodable import fetch_all

T = TypeVar("T")

log = logging.getLogger("plait.store")

SLOW_COMMIT = 0.003
"""Seconds; a thread is worth the handover if commits take longer than this."""
_PROBES = 5
POLL = 0.05
BUSY_MS = 5_000
_FIRST = Seq(0)
_LAST = 2**62


class SqliteStore:
    commits_elsewhere = False

    def __init__(
        self,
        path: str,
        *,
        synchronous: Synchronous = "FULL",
        clock: Clock | None = None,
        busy_ms: int = BUSY_MS,
    ) -> None:
        self.path = path
        self._synchronous: Synchronous = synchronous
        self._clock = clock or SystemClock()
        self._busy_ms = busy_ms
        self._db: apsw.Connection | None = None
        self._reader: apsw.Connection | None = None
        self._readers: Readers | None = None
        self._lock = OwnerLock(path)
        self._numbers = RunNumbers()
        self._apply: Callable[[apsw.Connection, RunNumbers, Sequence[Write]], list[Verdict]] = commit
        self._writer: ThreadPoolExecutor | None = None
        self._watcher: asyncio.Task[None] | None = None
        self.fleet: Fleet | None = None
        self.queues = SqliteTaskQueues(self._write, self._rows, self._clock)
        self.removals = SqliteRemovals(self._write, self._read)
        self.run_queues = SqliteRunQueues(self._write, self._read, self._clock)
        self._seen = 0

    async def open(self) -> None:
        self._db = open_writer(self.path, self._synchronous, self._busy_ms)
        self._seen = _data_version(self._db)  # earlier writes of others are not news
        # A memory database belongs to its connection; a file is read by a separate one.
        if self.path == ":memory:":
            self._reader = self._db
        else:
            self._reader = self._connect()
            self._readers = Readers(self._connect)

    def _connect(self) -> apsw.Connection:
        return connect(self.path, self._synchronous, self._busy_ms)

    async def close(self) -> None:
        if self._watcher is not None:
            self._watcher.cancel()
            await asyncio.gather(self._watcher, return_exceptions=True)
            self._watcher = None
        if self._writer is not None:
            self._writer.shutdown()
            self._writer = None
        if self._readers is not None:
            self._readers.close()
            self._readers = None
        for db in (self._reader, self._db):
            if db is not None:
                db.close()
        self._db = self._reader = None
        self._lock.release()

    async def commit(self, writes: Sequence[Write]) -> list[Verdict]:
        if self._writer is not None or self._db is None:
            return await self._write(lambda db: self._apply(db, self._numbers, writes))
        try:
            return self._apply(self._db, self._numbers, writes)
        except apsw.Error as error:
            raise_readable(error, self.path)

    async def claim(self, owner: str, ttl: Millis, want: int) -> list[Lease]:
        lock = self._lock.acquire()
        if lock == "taken":
            return []  # a living process on this file owns every shard
        if lock == "fresh":
            await self._choose_thread()
        now = self._clock.now()

        def take(db: apsw.Connection) -> list[Lease]:
            with atomic(db):
                if lock == "fresh":  # so any recorded owner is dead
                    db.execute(SQL["free_all"])
                taken: list[Any] = db.execute(SQL["take_shards"], (now, want, owner, now + ttl)).fetchall()
            return [Lease(*row) for row in sorted(taken)]

        return await self._write(take)

    async def renew(self, owner: str, ttl: Millis) -> Standing:
        now = self._clock.now()

        def extend(db: apsw.Connection) -> Standing:
            with atomic(db):
                db.execute(SQL["forget_engines"], (now,))
                db.execute(SQL["note_engine"], (owner, now + ttl))
                leases = [Lease(*row) for row in db.execute(SQL["renew_shards"], (owner, now + ttl))]
                (engines,) = next(db.execute(SQL["count_engines"]))
            # Where the lock decides, a second process can't take shards, so there is nothing to share.
            return Standing(leases, 1 if self._lock.enforced else engines)

        return await self._write(extend)

    async def release(self, owner: str, shards: Collection[Shard] | None = None) -> None:
        def give_up(db: apsw.Connection) -> int:
            with atomic(db):
                if shards is None:
                    db.execute(SQL["release_shards"], (owner,))
                    db.execute(SQL["forget_engine"], (owner,))
                else:
                    db.executemany(SQL["release_shard"], [(owner, shard) for shard in shards])
                return next(db.execute(SQL["count_owned"]))[0]

        owned = await self._write(give_up)
        if shards is None and not owned:
            self._lock.release()

    async def recovering(self, shards: Collection[Shard]) -> list[RunRow]:
        def count(db: apsw.Connection) -> list[RunRow]:
            among = rows.json_text(list(shards))
            with atomic(db):
                db.execute(SQL["count_recovery"], (among, SUSPECT_AFTER))
                awake = listed_rows.readable_runs(fetch_all(db, SQL["awake_runs"], (among,)))
            return [self._numbered(row) for row in awake]

        return await self._write(count)

    async def inbox(self, shards: Collection[Shard], limit: int) -> list[InboxRow]:
        found = self._query("waiting_inbox", _listed(shards), limit)
        return [rows.inbox_row(row) for row in found]

    async def due(self, shards: Collection[Shard], now: Millis, limit: int) -> list[TimerRow]:
        return listed_rows.readable_timers(self._query("due_timers", _listed(shards), now, limit))

    async def next_due(self, shards: Collection[Shard], after: Millis = Millis(0)) -> Millis | None:
        found = self._query("next_due", _listed(shards), after)
        return found[0][0] if found and isinstance(found[0][0], int) else None  # non-numbers sort last

    async def run(self, run_id: RunId) -> RunRow | None:
        found = self._query("get_run", run_id)
        return rows.checked_output(self._numbered(found[0])) if found else None

    async def runs(self, query: RunFilter) -> list[RunRow]:
        if query.text:
            await self._index_texts()
        return await self._read(lambda db: list_runs(db, query))

    async def log(
        self, run_id: RunId, after: Seq = _FIRST, upto: Seq | None = None, limit: int | None = None
    ) -> list[LogRow]:
        found = self._query("read_log", run_id, after + 1, _LAST if upto is None else upto, limit or -1)
        return [log_row(run_id, row) for row in found]

    async def heads(self, run_ids: Collection[RunId]) -> dict[RunId, Seq]:
        found = self._query("heads", rows.json_text(list(run_ids)))
        return {run_id: seq for run_id, seq in found if seq is not None}

    async def snapshot(self, run_id: RunId) -> Snapshot | None:
        found = self._query("read_snapshot", run_id)
        return rows.snapshot(run_id, found[0]) if found else None

    async def blob(self, digest: str) -> bytes:
        found = self._query("read_blob", digest)
        if not found:
            raise NotFound("store.no_blob", f"no value is stored under {digest}")
        if not isinstance(found[0][0], bytes):
            raise Damaged("a large value is damaged", f"what is stored under {digest} is of another type")
        return found[0][0]

    async def reply(self, run_id: RunId, key: str) -> Taken | None:
        found = self._query("read_reply", run_id, key)
        return Taken(found[0][0], None if found[0][1] is None else found[0][1].encode()) if found else None

    async def approval(self, id: str) -> Approval | None:
        found = self._query("get_approval", id)
        return rows.approval(found[0]) if found else None

    async def approvals(self, query: ApprovalFilter) -> list[Approval]:
        name, *given = rows.approval_query(query)
        found = await self._list(name, *given, -1 if query.limit is None else query.limit)
        return [listed_rows.listed_approval(row) for row in found]

    async def dead_letter(self, id: str) -> DeadLetter | None:
        found = self._query("get_dead_letter", id)
        return rows.dead_letter(found[0]) if found else None

    async def dead_letters(
        self,
        namespace: str | None,
        run_id: RunId | None = None,
        status: DeadLetterStatus | None = None,
        after: tuple[Millis, str] | None = None,
        limit: int | None = None,
    ) -> list[DeadLetter]:
        found = await self._list(
            *rows.dead_letter_query(namespace, run_id, status, after), -1 if limit is None else limit
        )
        return [listed_rows.listed_dead_letter(row) for row in found]

    async def lines(self, run_id: RunId, node: str | None, after: int, limit: int) -> list[Line]:
        return [listed_rows.listed_line(row) for row in await self._list("list_lines", run_id, node, after, limit)]

    async def record(self, kind: str, namespace: str, id: str) -> Record | None:
        found = self._query("get_record", kind, namespace, id)
        return rows.record(found[0]) if found else None

    async def records_named(self, kind: str, names: Sequence[tuple[str, str]]) -> list[Record]:
        found = [await self.record(kind, namespace, id) for namespace, id in names]
        return [record for record in found if record is not None]

    async def records(
        self, kind: str, namespace: str | None, after: str | None, limit: int, *, newest: bool = False
    ) -> list[Record]:
        name, *given = rows.record_query(kind, namespace, after, newest=newest)
        return [rows.record(row) for row in await self._list(name, *given, limit)]

    def watch(self, callback: Callable[[], None], shown: Callable[[], None] | None = None) -> None:
        """SQLite sends no notifications, but cheaply shows whether another connection has written."""
        self._watcher = asyncio.get_running_loop().create_task(self._poll(callback), name="plait.sqlite.watch")

    async def owners(self) -> list[Owner]:
        return [Owner(*row) for row in self._query("owners")]

    async def census(self) -> Census:
        return Census(*(await self._list("census"))[0])

    async def stalled(self, before: Millis, namespace: str | None, limit: int) -> list[RunId]:
        return [RunId(row[0]) for row in await self._list("list_stalled", before, namespace, limit)]

    async def namespaces(self) -> list[str]:
        return await self._read(namespaces)

    async def integrity(self) -> list[str]:
        return await asyncio.to_thread(check_file, self.path)

    async def facts(self) -> dict[str, str]:
        [(version, pages, size)] = self._query("file_facts")
        return {
            "store": "sqlite",
            "file": self.path,
            "sqlite": apsw.sqlite_lib_version(),
            "schema": str(version),
            "size": f"{pages * size:,} bytes",
            "durability": _DURABILITY[self._synchronous],
            "commits on": "a writer thread (fsync is slow here)" if self._writer else "the event loop's thread",
        }

    async def scrub(self) -> None:
        """Empties the journal, which holds earlier versions of pages, unless a reader still needs it."""
        await self._write(_empty_journal)

    async def _choose_thread(self) -> None:
        """Called when the store is about to be written a lot."""
        if self._writer is None and await self._write(_commit_seconds) > SLOW_COMMIT:
            self._writer = ThreadPoolExecutor(1, thread_name_prefix="plait-sqlite")

    async def _write(self, work: Callable[[apsw.Connection], T]) -> T:
        if self._db is None:
            raise RuntimeError("the store is not open")
        with readable_errors(self.path):
            if self._writer is None:
                return work(self._db)
            return await asyncio.get_running_loop().run_in_executor(self._writer, work, self._db)

    def _numbered(self, row: rows.Row) -> RunRow:
        """A row of a run that is likely to be written next."""
        self._numbers.remember({row[0]: row[rows.NUMBER]})
        return rows.run_row(row)

    async def _index_texts(self) -> None:
        """Updates the index before a search."""
        [(is_behind,)] = self._rows(TEXTS["is_behind"], ())
        if is_behind:
            await self._write(_index_new_runs)

    async def _list(self, name: str, *args: object) -> list[Any]:
        """Reads what may be long outside the event loop."""

        def fetch(db: apsw.Connection) -> list[Any]:
            return fetch_all(db, SQL[name], args)

        return await self._read(fetch)

    async def _read(self, work: Callable[[apsw.Connection], T]) -> T:
        if self._reader is None:
            raise RuntimeError("the store is not open")
        try:
            return work(self._reader) if self._readers is None else await self._readers.read(work)
        except apsw.Error as error:
            raise_readable(error, self.path)
        except UnicodeDecodeError as error:
            raise Damaged(f"rows of {self.path} are damaged", str(error)) from error

    def _query(self, name: str, *args: object) -> list[Any]:
        """Reads one row, or the few that an owner needs at once: a thread would cost more than it saves."""
        return self._rows(SQL[name], args)

    def _rows(self, sql: str, args: tuple[object, ...]) -> list[Any]:
        if self._reader is None:
            raise RuntimeError("the store is not open")
        try:
            return fetch_all(self._reader, sql, args)
        except apsw.Error as error:
            raise_readable(error, self.path)

    async def _poll(self, callback: Callable[[], None]) -> None:
        while True:
            await asyncio.sleep(POLL)
            try:
                version = await self._write(_data_version)
            except Unavailable as error:
                log.warning("can't see for now whether others wrote: %s", error)
                continue
            if version != self._seen:
                self._seen = version
                callback()


def _empty_journal(db: apsw.Connection) -> None:
    db.execute("pragma wal_checkpoint(truncate)").fetchall()


def _data_version(db: apsw.Connection) -> int:
    """Changes when another connection has written; on our writing connection, that means another process."""
    return next(db.execute("pragma data_version"))[0]


def _listed(shards: Collection[Shard]) -> str | None:
    """Shards as JSON; None, which costs nothing, for all of them."""
    return None if len(shards) == SHARDS else f"[{','.join(map(str, shards))}]"


def _index_new_runs(db: apsw.Connection) -> None:
    with atomic(db):
        index_new_runs(db)


def _commit_seconds(db: apsw.Connection) -> float:
    """The median time of a few commits that change one page."""
    taken: list[float] = []
    for _ in range(_PROBES):
        started = time.perf_counter()
        with atomic(db):
            db.execute("update shards set expires = expires where shard = 0")
        taken.append(time.perf_counter() - started)
    return sorted(taken)[_PROBES // 2]


_DURABILITY = {
    "FULL": "FULL: nothing acknowledged is lost, not even by a power cut",
    "NORMAL": "NORMAL: a crash of the process loses nothing; a power cut may lose the last moments",
}
