"""The text search on PostgreSQL: filling its index.

A commit notes which runs have new texts. They are added to the index in batches, on a list connection, when there are
enough and before each search: no commit waits for that.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager

from plait.kernel.errors import Unavailable
from plait.kernel.run_text import about
from plait.kernel.store import RunPatch, RunRow, Write
from plait.stores import statements
from plait.stores.run_texts import texts

from .database import NO_LIMIT, Connection

SQL = statements.load("plait.stores.postgres", "run_texts.sql")

BATCH = 1_000
"""Texts of this process that usually wait for the index, at most."""
_PAGE = 5_000

log = logging.getLogger("plait.store")


def has_text(row: RunRow) -> bool:
    return row.error is not None or row.blocked is not None or bool(about(row.id, row.labels))


def has_error(patch: RunPatch) -> bool:
    return patch.error is not None or patch.blocked is not None


class TextIndex:
    """Updates the index in the background."""

    def __init__(self, use: Callable[[], AbstractAsyncContextManager[Connection]]) -> None:
        self._use = use
        self._new = 0
        self._task: asyncio.Task[None] | None = None

    def note(self, writes: Sequence[Write]) -> None:
        """Counts new texts after a commit."""
        for write in writes:
            if write.create is not None or (write.patch is not None and has_error(write.patch)):
                self._new += 1
            if write.children:
                self._new += len(write.children)
        if self._new >= BATCH and self._task is None:
            self._new = 0
            self._task = asyncio.get_running_loop().create_task(self._catch_up())
            self._task.add_done_callback(self._done)

    async def close(self) -> None:
        if self._task is not None:
            await asyncio.wait([self._task])

    async def _catch_up(self) -> None:
        try:
            async with self._use() as connection:
                await index_due(connection)
        except Unavailable as error:  # the missing texts are added next time
            log.warning("texts of new runs could not be indexed: %s", error)

    def _done(self, _: asyncio.Task[None]) -> None:
        self._task = None


async def index_due(connection: Connection) -> None:
    """Indexes all waiting texts, whoever wrote them."""
    if await connection.fetchval(SQL["any_due"]):
        while await _index_page(connection):
            pass


async def fill_run_texts(connection: Connection) -> None:
    """Fills the index of a database that had no text search; the index is created afterwards, which is faster."""
    while await _index_page(connection):
        pass
    await connection.execute(SQL["create_index"], timeout=NO_LIMIT)


async def _index_page(connection: Connection) -> bool:
    """Indexes one page; False if it was the last."""
    async with connection.transaction():
        # Otherwise two processes could each have read an error, and the older one be written last
        await connection.execute(SQL["lock_texts"])
        due = [row[0] for row in await connection.fetch(SQL["take_due"], _PAGE)]
        found = list(texts(map(tuple, await connection.fetch(SQL["due_runs"], due)))) if due else []
        if found:
            await connection.execute(SQL["add_texts"], *zip(*found, strict=True))
    return len(due) == _PAGE
