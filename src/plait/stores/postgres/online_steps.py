"""Online migrations: they run while engines of the previous release work.

A script of `migrations.sql` may be cut into steps, each under a line `-- step (how) what it is for`:

    short     a transaction that waits for a lock for a moment only; tried again until it gets it
    alone     one statement outside of transactions, such as `create index concurrently` or `validate constraint`
    batches   one statement, done again until it changes no row; each time is a transaction of its own

Completed steps are recorded beside the schema's version, so that the next process continues after a crash. A new
database, which nobody uses yet, gets all steps in the transaction that creates it.

A script with a line `-- expand` leaves a schema on which the previous release works: it only adds. Without that line,
engines of earlier releases are refused from then on (`store.schema_too_new`).
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast, get_args

import asyncpg

from plait.stores import statements

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"
How = Literal["short", "alone", "batches"]

log = logging.getLogger("plait.store")

SQL = statements.load("plait.stores.postgres", "online_steps.sql")
NO_LIMIT = 7 * 86_400.0
"""Seconds: asyncpg takes None for its own default."""
TRIES = 600
"""Tries of a short step, about a second apart."""
_PAUSE = 0.2
_LONGEST_PAUSE = 1.0
_SAY_EVERY = 10
_EXPAND = re.compile(r"^-- expand$", re.MULTILINE)
_STEP = re.compile(r"^-- step \((\w+)\) (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Step:
    how: How
    why: str
    sql: str


def steps_of(script: str) -> list[Step]:
    """The steps of a script; empty if it runs in one transaction."""
    parts = _STEP.split(script)
    found = [Step(_how(parts[i]), parts[i + 1], parts[i + 2].strip().rstrip(";")) for i in range(1, len(parts), 3)]
    return found


def expands(script: str) -> bool:
    return _EXPAND.search(script) is not None


def at_once(script: str) -> str:
    """The script for an unused database, in a transaction, where nothing can be done concurrently."""
    return script.replace(" concurrently", "")


async def make_steps(connection: Connection, steps: Sequence[Step], done: int) -> None:
    """Runs all steps that are not done. The caller holds the lock against others."""
    for place, step in enumerate(steps[done:], start=done + 1):
        log.info("schema: step %d of %d: %s", place, len(steps), step.why)
        if step.how == "short":
            await _make_short(connection, step, place)
        elif step.how == "alone":
            await _drop_unfinished_indexes(connection)
            await connection.execute(step.sql, timeout=NO_LIMIT)
            await connection.execute(SQL["set_step"], place)
        else:
            while not (await connection.execute(step.sql, timeout=NO_LIMIT)).endswith(" 0"):
                pass
            await connection.execute(SQL["set_step"], place)


async def _make_short(connection: Connection, step: Step, place: int) -> None:
    for tried in range(1, TRIES + 1):
        try:
            async with connection.transaction():
                await connection.execute(SQL["wait_shortly"])
                await connection.execute(step.sql, timeout=NO_LIMIT)
                await connection.execute(SQL["set_step"], place)
            return
        except (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError):
            if tried == TRIES:
                raise
            if tried % _SAY_EVERY == 0:
                log.warning("schema: a step waits for a long transaction of somebody to end: %s", step.why)
        await asyncio.sleep(min(_PAUSE * tried, _LONGEST_PAUSE))


async def _drop_unfinished_indexes(connection: Connection) -> None:
    """Drops remains of indexes whose builder died."""
    for (drop,) in await connection.fetch(SQL["unfinished_indexes"]):
        await connection.execute(drop, timeout=NO_LIMIT)


def _how(word: str) -> How:
    if word not in get_args(How):
        raise ValueError(f"a migration has a step of an unknown kind: {word}")
    return cast("How", word)
