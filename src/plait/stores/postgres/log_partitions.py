"""The partitions of the log on PostgreSQL: new ones are added over time, and old ones are dropped as a whole.

A run's number determines the partition of its events: partition n starts at number n * 2^40. A new one is created
first, and then the sequence of numbers jumps to its start, so its range never depends on how many numbers were drawn.
The newest can't be full: no insert lacks a partition. Numbers drawn before the jump go to the previous partition, and
if that is gone, to the rest (`log_rest`), which takes whatever has no other place.

    open ──── closed ──── no run of it is left ──── emptied ──── dropped
    new runs              removed one by one        at once      when the lock is free

A partition is open for a forty-eighth of the retention time, at least ten minutes, and until it has some thousand runs.
That makes fifty of them for a day of history or for a year, a few hundred for ten years without removals, and one or
two where little happens.

Events of removed runs wait for the end of their partition, because that costs nothing, but no longer than twice the
time that partitions are open: then some runs live long. If few are left, they move to a new table that replaces the
partition; if many, the events of the removed ones are deleted row by row.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TypeAlias

import asyncpg

from plait.kernel.ids import Millis
from plait.stores import statements

from .database import Connection

log = logging.getLogger("plait.store")

SQL = statements.load("plait.stores.postgres", "log_partitions.sql")
BLOBS = statements.load("plait.stores.postgres", "removals.sql")
TEXTS = statements.load("plait.stores.postgres", "run_texts.sql")

PARTITIONS = "log_partitions"
"""The table that lists them."""
STRIDE = 1 << 40
SHORTEST = Millis(10 * 60_000)
"""Shortest time that a partition is open."""
SHARE = 48
"""Divisor of the retention time: a partition is open for this fraction of it."""
FEWEST = 10_000
"""Fewest numbers drawn before the next partition is opened; with fewer, it is not worth it."""
_LEFT = 2_000
"""Most rows moved to a new table while others wait: some milliseconds."""
_AT_ONCE = 10_000
_BLOBS = 200

Range: TypeAlias = tuple[int, int]
"""Range of numbers: the first, and the one after the last."""
EVERYTHING: Range = (0, 1 << 62)


@dataclass(frozen=True, slots=True)
class Partition:
    number: int
    opened_at: int
    removing_since: int | None
    has_runs: bool
    has_removed: bool

    @property
    def range(self) -> Range:
        return self.number * STRIDE, (self.number + 1) * STRIDE


class LogPartitions:
    def __init__(self, use: Callable[[], AbstractAsyncContextManager[Connection]]) -> None:
        self._use = use
        self._warned = False

    async def tend(self) -> list[Range]:
        """Does what is due. Returns the ranges in which events of removed runs are to be deleted row by row: elsewhere
        they wait for the end of their partition. None while another process does this."""
        async with self._use() as connection:
            if not await connection.fetchval(SQL["lock"]):
                return []
            try:
                return await _tend(connection)
            except asyncpg.InsufficientPrivilegeError as error:
                self._warn(error)
                return [EVERYTHING]
            finally:
                if not connection.is_closed():
                    await connection.execute(SQL["unlock"])

    def _warn(self, error: Exception) -> None:
        """Warns once, not every minute."""
        if not self._warned:
            self._warned = True
            log.warning("the log gets no new partitions, and events go row by row: this user must own it: %s", error)


def open_for(kept: int) -> int:
    """How long a partition is open, if the oldest one was created so long ago."""
    return max(SHORTEST, kept // SHARE)


async def _tend(connection: Connection) -> list[Range]:
    found = [Partition(*row) for row in await connection.fetch(SQL["list"])]
    drawn, now = (await connection.fetch(SQL["now"]))[0]
    period, newest = open_for(now - found[0].opened_at), found[-1]
    drawn_of_newest = drawn - newest.range[0]
    if drawn_of_newest >= FEWEST and now - newest.opened_at >= period:
        await _open_next(connection, newest.number + 1)
    elif drawn_of_newest < 0:  # its creator died before the jump
        await connection.execute(SQL["advance"], newest.range[0])
    settled = now - newest.opened_at >= SHORTEST  # numbers drawn before it are used by now
    waiting: list[Range] = []
    for partition in found:
        closed = partition is not newest
        if closed and settled and not partition.has_runs:
            if not await _end(connection, partition):
                waiting.append(partition.range)
        elif partition.has_removed:
            since = partition.removing_since or now
            if partition.removing_since is None:
                await connection.execute(SQL["note_removing"], partition.number, since)
            if now - since < 2 * period and (closed or drawn_of_newest >= FEWEST):
                waiting.append(partition.range)
            elif closed:
                await _move_few(connection, partition)
        elif partition.removing_since is not None:
            await connection.execute(SQL["note_removing"], partition.number, None)
    return _between(waiting)


def _between(waiting: Sequence[Range]) -> list[Range]:
    """All numbers outside these sorted ranges."""
    found: list[Range] = []
    start, end = EVERYTHING
    for first, after in waiting:
        if first > start:
            found.append((start, first))
        start = after
    return [*found, (start, end)]


async def _open_next(connection: Connection, number: int) -> None:
    first = number * STRIDE
    try:
        async with connection.transaction():
            await connection.execute(SQL["wait_shortly"])
            await _make(connection, number)
            await connection.execute(SQL["note_partition"], number)
    except asyncpg.LockNotAvailableError:
        return  # the open one will do for another while
    await connection.execute(SQL["advance"], first)
    log.info("partition %d of the log is open", number)


async def _make(connection: Connection, number: int) -> None:
    await connection.execute(_of(number, "make"))
    attach = _of(number, "attach").replace("first_number", str(number * STRIDE))
    await connection.execute(attach.replace("last_number", str((number + 1) * STRIDE)))


async def remake(connection: Connection) -> None:
    """Recreates the listed partitions in a schema that has only the first."""
    noted = {row[0] for row in await connection.fetch(SQL["list"])}
    if 0 not in noted:
        await connection.execute(_of(0, "drop"))
    for number in sorted(noted - {0}):
        await _make(connection, number)


async def _end(connection: Connection, partition: Partition) -> bool:
    """Empties and drops a partition; False if it is in use: there is another time."""
    await _let_go_of_blobs(connection, partition.range)
    try:
        async with connection.transaction():
            await connection.execute(SQL["wait_shortly"])
            await connection.execute(_of(partition.number, "lock_partition"))
            # A run created with one of its numbers, drawn long ago, has been written before our lock, or will be after
            if await connection.fetchval(SQL["has_runs"], *partition.range):
                return False
            await connection.execute(_of(partition.number, "empty"))
    except asyncpg.LockNotAvailableError:
        return False
    while await _forget_removed(connection, partition.range):
        pass
    try:
        async with connection.transaction():
            await connection.execute(SQL["wait_shortly"])
            await connection.execute(_of(partition.number, "drop"))
            await connection.execute(SQL["forget_partition"], partition.number)
    except (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError):
        return True  # it is empty, and dropped another time
    log.info("partition %d of the log is dropped", partition.number)
    return True


async def _forget_removed(connection: Connection, numbers: Range) -> int:
    async with connection.transaction():
        await connection.execute(TEXTS["lock_texts"])  # readers from before the removal have written by now
        return await connection.fetchval(SQL["forget_removed"], *numbers, _AT_ONCE)


async def _let_go_of_blobs(connection: Connection, numbers: Range) -> None:
    while True:
        async with connection.transaction():
            digests = [row[0] for row in await connection.fetch(SQL["digests"], *numbers, _BLOBS)]
            if not digests:
                return
            await connection.execute(BLOBS["hold_blobs"], digests)
            await connection.execute(SQL["unrefer"], *numbers, digests)
            await connection.execute(BLOBS["remove_blobs"], digests)


async def _move_few(connection: Connection, partition: Partition) -> None:
    """Moves the remaining rows to a new table, if they are few: that frees the space of the others, where new rows
    never come."""
    if await connection.fetchval(SQL["left"], *partition.range, _LEFT + 1) > _LEFT:
        return
    await _let_go_of_blobs(connection, partition.range)
    try:
        async with connection.transaction():
            await connection.execute(SQL["wait_shortly"])
            await connection.execute(SQL["lock_log"])
            await connection.execute(_of(partition.number, "detach"))
            await connection.execute(_of(partition.number, "move_away"))
            await _make(connection, partition.number)
            await connection.execute(_of(partition.number, "copy_left"), *partition.range)
            await connection.execute(_of(partition.number, "drop_before"))
    except (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError):
        log.info("partition %d of the log is in use, and is made smaller another time", partition.number)


def _of(number: int, name: str) -> str:
    """A statement for one of the partitions."""
    return SQL[name].replace("log_n", f"log_{number}")
