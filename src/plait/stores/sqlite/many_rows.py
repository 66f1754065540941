"""Bulk inserts by few statements.

`executemany` looks up its statement by text for every row, and SQLite opens the table and each of its indexes for every
row. Nor does the driver know which statements are used often: one that was not among the last 200 is recompiled, and
every row counts. So a statement that inserts one row is turned into one that inserts as many as `AT_ONCE` says, and the
rest are inserted one by one. It should say `or fail`: otherwise SQLite keeps copies of pages, to undo the rows before a
refused one. Here the whole transaction is rolled back then.
"""

# apsw's types name `collections.abc.Buffer`, which Python 3.11 does not have.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain

import apsw

from plait.stores.rows import Row

AT_ONCE = (32, 8)
"""Rows per statement; few sizes, because each is compiled once and kept."""
_VALUES = " values "


def insert_rows(db: apsw.Connection, statement: str, rows: Sequence[Row], *, one: str | None = None) -> None:
    """Inserts rows. `statement` ends with the values of one row; `one` is used for the remaining rows, if it
    differs."""
    done, count = 0, len(rows)
    for size in AT_ONCE:
        while count - done >= size:
            db.execute(_repeated(statement, size), tuple(chain.from_iterable(rows[done : done + size])))
            done += size
    if done < count:
        db.executemany(one or statement, rows[done:])


@lru_cache
def _repeated(statement: str, count: int) -> str:
    table, values, row = statement.partition(_VALUES)
    return table + values + ",".join([row] * count)
