"""Many rows by few statements.

`executemany` looks its statement up by its text for every row, and SQLite opens the table and each of its indexes for
every row. Nor does the driver know which statements are used often: one that was not among the last 200 is compiled
anew, and every row counts. So a statement that inserts one row is made into one that inserts as many as `AT_ONCE` says,
and what is left goes one by one. It should say `or fail`: else SQLite keeps copies of pages, to take back the rows that
came before one that is refused. Here the whole transaction is taken back then.
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
"""Rows of a statement; few sizes, because each is compiled once and kept."""
_VALUES = " values "


def insert_rows(db: apsw.Connection, statement: str, rows: Sequence[Row], *, one: str | None = None) -> None:
    """`statement` ends with the values of one row; `one` is for those that are left over, if it is another."""
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
