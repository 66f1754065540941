"""The PostgreSQL store.

Connections: one writes, so that commits never wait for this engine's own reads; one listens and holds the owners'
locks; two read lists; a few do the rest. Each is reopened after a loss, so a server outage means `Unavailable` for its
duration and nothing more. An interrupted commit may or may not have been written: a retry learns that from the verdict.
"""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from typing import Any

import asyncpg

from plait.kernel.approval import Approval, ApprovalFilter
from plait.kernel.census import Census, Owner, Standing
from plait.kernel.counted import counted
from plait.kernel.errors import NotFound
from plait.kernel.ids import Millis, RunId, Seq, Shard
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
from plait.stores import listed_rows, rows, statements
from plait.stores.examined_rows import damaged_rows
from plait.stores.log_rows import log_row

from .batched import Batched
from .commit import commit
from .common import Session
from .database import COMMAND_SECONDS, SQL, Address, Connection, migrate, readable_errors, without_retry
from .fleet import PostgresFleet
from .link import Link, Links
from .listener import Listener, shard_notice
from .removals import PostgresRemovals
from .run_lists import list_runs, namespaces
from .run_numbers import PostgresRunNumbers
from .run_queues import PostgresRunQueues
from .run_texts import TextIndex, fill_run_texts, index_due
from .task_queues import PostgresTaskQueues
from .text_statistics import TextCounts

POOL_SIZE = 4
"""Connections for reading, in addition to one for writing and one for listening."""
LIST_CONNECTIONS = 2
"""Additional connections for lists: a slow one does not block an owner's reads."""
TRIES = 5
"""Tries of a commit with deadlocks: two processes may write the same keys in different order."""
_FIRST = Seq(0)
_LAST = 2**62

_WRITING = {
    "application_name": "plait writer",
    # Writes find rows by key. A plan made while the tables were small must not scan them when they have grown.
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    # The plan is the same for all values: replanning would cost as much as the write.
    "plan_cache_mode": "force_generic_plan",
}
_READING = {"application_name": "plait reader"}
_LISTING = {
    "application_name": "plait lists",
    # The client stops waiting then: the server must not continue.
    "statement_timeout": f"{COMMAND_SECONDS - 5:.0f}s",
    "plan_cache_mode": "force_custom_plan",  # a list is planned for its actual filters
    # Room for the matches of a text index in ten million rows. Otherwise the server only notes pages, and recomputes
    # the trigrams of every text in them.
    "work_mem": "64MB",
    # An index returns places in the order of the list: each leads to a row, until there are enough.
    "enable_seqscan": "off",
    "enable_sort": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
}


_CHECK_SECONDS = 3_600.0
"""Seconds that the check of one table may take."""
_EXAMINED = statements.load("plait.stores.postgres", "examined_rows.sql")
_EXAMINED_AT_ONCE = 500
_PATIENCE = (Millis(1_000), Millis(10_000))
"""Limits in milliseconds for a transaction whose engine is silent: its lease time, within these bounds."""


class PostgresStore:
    commits_elsewhere = True

    def __init__(self, url: str, *, pool_size: int = POOL_SIZE) -> None:
        self.address = Address(url)
        self._pool_size = pool_size
        self._origin = uuid.uuid4().hex
        self._numbers = PostgresRunNumbers()
        self._writer: Link | None = None
        self._readers: Links | None = None
        self._lists: Links | None = None
        self._texts = TextIndex(lambda: self._use(self._lists))
        self._counts = TextCounts()
        self._listener: Listener | None = None
        self._whole_logs = Batched(self._read_logs)
        self._snapshots = Batched(self._read_snapshots)
        self.removals = PostgresRemovals(lambda: self._use(self._lists))
        self.fleet = PostgresFleet(lambda: self._use(self._readers), self._claim, self._heard, self._origin)
        self.queues = PostgresTaskQueues(lambda: self._use(self._readers), self._origin)
        self.run_queues = PostgresRunQueues(lambda: self._use(self._readers), self._origin)

    async def open(self) -> None:
        writer = Link(self.address, _WRITING)
        try:
            with without_retry(), readable_errors(self.address):
                async with writer.use() as connection:
                    await migrate(connection, self.address, {"v7": fill_run_texts})
        except BaseException:
            await writer.close()
            raise
        self._writer = writer
        self._readers = Links(self.address, _READING, self._pool_size)
        self._lists = Links(self.address, _LISTING, LIST_CONNECTIONS)
        self._listener = Listener(self.address, self._origin)

    async def close(self) -> None:
        for part in (self._listener, self._texts, self._lists, self._readers, self._writer):
            if part is not None:
                await part.close()
        self._listener = self._lists = self._readers = self._writer = None

    async def commit(self, writes: Sequence[Write]) -> list[Verdict]:
        async with self._use(self._writer) as connection:
            for left in reversed(range(TRIES)):
                try:
                    verdicts = await commit(Session(connection, self._numbers, self._origin), writes)
                    self._texts.note(writes)
                    return verdicts
                except (asyncpg.DeadlockDetectedError, asyncpg.SerializationError):  # it was rolled back entirely
                    if not left:
                        raise
            raise AssertionError("unreachable")

    async def claim(self, owner: str, ttl: Millis, want: int) -> list[Lease]:
        return await self._claim(owner, ttl, want, "")

    async def _claim(self, owner: str, ttl: Millis, want: int, pool: str) -> list[Lease]:
        self._limit_idle(ttl)
        guarded = await self._guard(owner)
        async with self._use(self._readers) as connection:
            found = await connection.fetch(SQL["claim_shards"], owner, ttl, want, guarded, pool)
        return sorted((Lease(*row) for row in found), key=lambda lease: lease.shard)

    async def renew(self, owner: str, ttl: Millis) -> Standing:
        guarded = await self._guard(owner)
        async with self._use(self._readers) as connection, connection.transaction():
            await connection.execute(SQL["note_engine"], owner, ttl, guarded)
            await connection.execute(SQL["forget_engines"], owner)
            leases = [Lease(*row) for row in await connection.fetch(SQL["renew_shards"], owner, ttl, guarded)]
            engines = await connection.fetchval(SQL["count_engines"])
        return Standing(sorted(leases, key=lambda lease: lease.shard), engines)

    async def release(self, owner: str, shards: Collection[Shard] | None = None) -> None:
        async with self._use(self._readers) as connection, connection.transaction():
            await connection.execute(SQL["release_shards"], owner, None if shards is None else list(shards))
            if shards is None:
                await connection.execute(SQL["forget_engine"], owner)
            await connection.execute(SQL["notify"], shard_notice(self._origin))
        if shards is None and self._listener is not None:
            with readable_errors(self.address):
                await self._listener.unguard(owner)

    async def recovering(self, shards: Collection[Shard]) -> list[RunRow]:
        async with self._use(self._readers) as connection, connection.transaction():
            await connection.execute(SQL["count_recoveries"], list(shards), SUSPECT_AFTER)
            found: list[Any] = await connection.fetch(SQL["awake_runs"], list(shards))
        return [self._numbered(row) for row in listed_rows.readable_runs(found)]

    async def inbox(self, shards: Collection[Shard], limit: int) -> list[InboxRow]:
        found = await self._fetch("waiting_inbox", list(shards), limit)
        return [rows.inbox_row(row) for row in found]

    async def due(self, shards: Collection[Shard], now: Millis, limit: int) -> list[TimerRow]:
        return listed_rows.readable_timers(await self._fetch("due_timers", list(shards), now, limit))

    async def next_due(self, shards: Collection[Shard], after: Millis = Millis(0)) -> Millis | None:
        return (await self._fetch("next_due", list(shards), after))[0][0]

    async def run(self, run_id: RunId) -> RunRow | None:
        found = await self._fetch("get_run", run_id)
        return rows.checked_output(self._numbered(found[0])) if found else None

    async def runs(self, query: RunFilter) -> list[RunRow]:
        async with self._use(self._lists) as connection:
            if not query.text:
                return await list_runs(connection, query)
            await index_due(connection)
            return await list_runs(connection, query, await self._counts.take(connection))

    async def log(
        self, run_id: RunId, after: Seq = _FIRST, upto: Seq | None = None, limit: int | None = None
    ) -> list[LogRow]:
        if after == _FIRST and upto is None and limit is None:
            return [log_row(run_id, row) for row in await self._whole_logs.get(run_id) or ()]
        asked = (run_id, after + 1, _LAST if upto is None else upto, limit)
        async with self._use(self._readers) as connection:
            known = self._numbers.get(run_id)
            found = [] if known is None else await connection.fetch(SQL["read_log"], *asked, known)
            if not found:  # the id may belong to another run now
                number = await self._numbers.look_up(connection, run_id)
                if number != known:
                    found = await connection.fetch(SQL["read_log"], *asked, number)
        return [log_row(run_id, tuple(row)) for row in found]

    async def _read_logs(self, run_ids: Sequence[str]) -> dict[str, list[rows.Row]]:
        ids: dict[int, str] = {number: run_id for run_id, number in await self._fetch("numbers_of", run_ids)}
        found: dict[str, list[rows.Row]] = {}
        for row in await self._fetch("read_logs", list(ids)):
            found.setdefault(ids[row[0]], []).append(tuple(row))
        return found

    async def heads(self, run_ids: Collection[RunId]) -> dict[RunId, Seq]:
        found = await self._fetch("heads", list(run_ids))
        return {run_id: seq for run_id, seq in found if seq is not None}

    async def snapshot(self, run_id: RunId) -> Snapshot | None:
        return await self._snapshots.get(run_id)

    async def _read_snapshots(self, run_ids: Sequence[str]) -> dict[str, Snapshot]:
        found = await self._fetch("read_snapshots", run_ids)
        return {run_id: Snapshot(seq, at, body.encode()) for run_id, seq, at, body in found}

    async def blob(self, digest: str) -> bytes:
        found = await self._fetch("read_blob", digest)
        if not found:
            raise NotFound("store.no_blob", f"no value is stored under {digest}")
        return found[0][0]

    async def reply(self, run_id: RunId, key: str) -> Taken | None:
        found = await self._fetch("read_reply", run_id, key)
        return Taken(found[0][0], None if found[0][1] is None else found[0][1].encode()) if found else None

    async def approval(self, id: str) -> Approval | None:
        found = await self._fetch("get_approval", id)
        return rows.approval(tuple(found[0])) if found else None

    async def approvals(self, query: ApprovalFilter) -> list[Approval]:
        found = await self._list(*rows.approval_query(query), query.limit)
        return [listed_rows.listed_approval(tuple(row)) for row in found]

    async def dead_letter(self, id: str) -> DeadLetter | None:
        found = await self._fetch("get_dead_letter", id)
        return rows.dead_letter(tuple(found[0])) if found else None

    async def dead_letters(
        self,
        namespace: str | None,
        run_id: RunId | None = None,
        status: DeadLetterStatus | None = None,
        after: tuple[Millis, str] | None = None,
        limit: int | None = None,
    ) -> list[DeadLetter]:
        found = await self._list(*rows.dead_letter_query(namespace, run_id, status, after), limit)
        return [listed_rows.listed_dead_letter(tuple(row)) for row in found]

    async def lines(self, run_id: RunId, node: str | None, after: int, limit: int) -> list[Line]:
        return [listed_rows.listed_line(row) for row in await self._list("list_lines", run_id, node, after, limit)]

    async def record(self, kind: str, namespace: str, id: str) -> Record | None:
        found = await self._fetch("get_record", kind, namespace, id)
        return rows.record(found[0]) if found else None

    async def records_named(self, kind: str, names: Sequence[tuple[str, str]]) -> list[Record]:
        found = await self._list("get_records", kind, *zip(*names, strict=True))
        return [rows.record(row) for row in found]

    async def records(
        self, kind: str, namespace: str | None, after: str | None, limit: int, *, newest: bool = False
    ) -> list[Record]:
        name, *given = rows.record_query(kind, namespace, after, newest=newest)
        return [rows.record(row) for row in await self._list(name, *given, limit)]

    def watch(self, callback: Callable[[], None], shown: Callable[[], None] | None = None) -> None:
        """One notification per transaction, and one call after each reconnect."""
        self._heard().watch(callback, shown)

    async def owners(self) -> list[Owner]:
        return [Owner(*row) for row in await self._fetch("owners")]

    async def census(self) -> Census:
        return Census(*(await self._list("census"))[0])

    async def stalled(self, before: Millis, namespace: str | None, limit: int) -> list[RunId]:
        return [RunId(row[0]) for row in await self._list("list_stalled", before, namespace, limit)]

    async def namespaces(self) -> list[str]:
        async with self._use(self._lists) as connection:
            return await namespaces(connection)

    async def integrity(self) -> list[str]:
        """Checks by amcheck, if the server's administrator has installed it, and by reading the rows beside the
        runs."""
        wrong: list[str] = []
        async with self._use(self._readers) as connection:
            for index, check in await connection.fetch(SQL["index_checks"]):
                try:
                    await connection.execute(check, timeout=_CHECK_SECONDS)
                except (asyncpg.DataCorruptedError, asyncpg.IndexCorruptedError) as error:
                    wrong.append(f"index {index}: {error}")
            lost = await connection.fetchval(SQL["lost_logs"], timeout=_CHECK_SECONDS)
            for name, sql in _EXAMINED.items():
                async with connection.transaction():
                    async for row in connection.cursor(sql, prefetch=_EXAMINED_AT_ONCE):
                        wrong += damaged_rows(name, [tuple(row)])
        return [*wrong, f"{counted(lost, 'row')} of logs without a run"] if lost else wrong

    async def facts(self) -> dict[str, str]:
        [(server, schema, size, fsync, synchronous, amcheck)] = await self._fetch("facts")
        return {
            "store": "postgresql",
            "server": str(self.address),
            "postgresql": server,
            "schema": str(schema),
            "size": f"{size:,} bytes",
            "durability": _durability(fsync, synchronous),
            "index checks": "by amcheck" if amcheck else "none: an administrator may `create extension amcheck`",
            "connections": f"{self._pool_size} to read, {LIST_CONNECTIONS} for lists, 1 to write, 1 to listen",
        }

    async def scrub(self) -> None:
        """Removes old row versions; those in the server's WAL go when it is recycled."""
        async with self._use(self._readers) as connection:
            await connection.execute(SQL["scrub_records"])

    def _limit_idle(self, lease: Millis) -> None:
        """Limits idle transactions: a takeover must not wait for a frozen engine's locks once its lease is over."""
        least, most = _PATIENCE
        for links in (self._writer, self._readers):
            if links is not None:
                links.limit_idle(max(least, min(lease, most)))

    def _numbered(self, row: rows.Row) -> RunRow:
        """A row of a run that is likely to be written next."""
        self._numbers.remember({row[0]: row[rows.NUMBER]})
        return rows.run_row(row)

    def _heard(self) -> Listener:
        if self._listener is None:
            raise RuntimeError("the store is not open")
        return self._listener

    async def _guard(self, owner: str) -> bool:
        with readable_errors(self.address):
            return await self._heard().guard(owner)

    async def _list(self, name: str, *args: object) -> list[Any]:
        """Reads lists on their own connections, so that a long one never blocks an owner."""
        async with self._use(self._lists) as connection:
            return await connection.fetch(SQL[name], *args)

    async def _fetch(self, name: str, *args: object) -> list[Any]:
        async with self._use(self._readers) as connection:
            return await connection.fetch(SQL[name], *args)

    @asynccontextmanager
    async def _use(self, links: Link | Links | None) -> AsyncGenerator[Connection]:
        if links is None:
            raise RuntimeError("the store is not open")
        with readable_errors(self.address):
            async with links.use() as connection:
                yield connection


def _durability(fsync: str, synchronous: str) -> str:
    if fsync == "on" and synchronous != "off":
        return f"synchronous_commit={synchronous}: nothing acknowledged is lost, not even by a power cut"
    return f"fsync={fsync}, synchronous_commit={synchronous}: a crash of the server may lose what was acknowledged"
