"""Rows with text that is not UTF-8. SQLite stores any bytes as text, and one undecodable row would hide all that are
read with it: a list, the inputs of every run, the timers. Such a text is read as bytes, so that reading the row raises
with its name, and the others are read as usual."""

# apsw's types name `collections.abc.Buffer`, which Python 3.11 does not have.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import apsw

from plait.stores.columns import Row

Bindings = tuple[object, ...] | Mapping[str, Any]


def fetch_all(db: apsw.Connection, sql: str, args: Bindings = ()) -> list[Any]:
    """The rows of a read-only statement."""
    try:
        return db.execute(sql, args).fetchall()  # pyright: ignore[reportArgumentType]
    except UnicodeDecodeError:
        return list(decoded_rows(db, sql, args))


def decoded_rows(db: apsw.Connection, sql: str, args: Bindings = ()) -> Iterator[Row]:
    """The same, row by row, decoding each text separately."""
    names = [f"c{place}" for place in range(_width(db, sql, args))]
    shown = ", ".join(f"typeof({name}), iif(typeof({name}) = 'text', cast({name} as blob), {name})" for name in names)
    careful = f"with found ({', '.join(names)}) as ({sql.strip().rstrip(';')}) select {shown} from found"
    for columns in db.execute(careful, args):  # pyright: ignore[reportArgumentType]
        yield tuple(map(_value, columns[::2], columns[1::2]))


def _width(db: apsw.Connection, sql: str, args: Bindings) -> int:
    """The number of columns, found without reading a row."""
    import apsw.ext  # rarely needed, and as large as the rest of apsw

    return len(apsw.ext.query_info(db, sql, args).description)  # pyright: ignore[reportArgumentType, reportAttributeAccessIssue]


def _value(kind: str, column: Any) -> Any:
    if kind != "text":
        return column
    try:
        return column.decode()
    except UnicodeDecodeError:
        return column
