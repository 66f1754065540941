"""Empty databases in memory. Tests and simulations create thousands of stores; running all migrations for each would
dominate their time. So one is migrated and the others are copies. A used database is emptied and reused, because its
statements are compiled already."""

# apsw's types name `collections.abc.Buffer`, which Python 3.11 does not have.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import apsw

from plait.stores.sqlite.database import connect, migrate, prepare_writing

PATH = ":memory:"
_KEPT = 4
_TABLES = """
select name from pragma_table_list
where schema = 'main' and type = 'table' and name not like 'sqlite!_%' escape '!'
"""
_HAS_TEXTS = "select exists (select 1 from run_texts)"

_spare: list[apsw.Connection] = []


@dataclass(frozen=True, slots=True)
class _Table:
    empty: str
    fill: str
    rows: list[tuple[Any, ...]]
    """Rows that a new database has."""


def take() -> apsw.Connection:
    """A database like a new file, of the newest schema."""
    return _spare.pop() if _spare else _new()


def give_back(db: apsw.Connection) -> None:
    """Takes back an unused database."""
    if len(_spare) >= _KEPT or db.in_transaction or next(db.execute(_HAS_TEXTS))[0]:  # a full-text index is not emptied
        db.close()
        return
    with db:
        for table in _tables():
            db.execute(table.empty)
            if table.rows:
                db.executemany(table.fill, table.rows)
    _spare.append(db)


def _new() -> apsw.Connection:
    db = connect(PATH, "FULL", 0)
    with db.backup("main", _original(), "main") as copy:
        copy.step()
    prepare_writing(db)
    return db


@cache
def _original() -> apsw.Connection:
    db = connect(PATH, "FULL", 0)
    migrate(db, PATH)
    return db


@cache
def _tables() -> list[_Table]:
    db = _original()
    names: list[Any] = db.execute(_TABLES).fetchall()
    return [_table(db, name) for (name,) in names]


def _table(db: apsw.Connection, name: str) -> _Table:
    rows: list[tuple[Any, ...]] = db.execute(f"select * from {name}").fetchall()
    places = ", ".join("?" * len(rows[0])) if rows else ""
    return _Table(f"delete from {name}", f"insert into {name} values ({places})", rows)
