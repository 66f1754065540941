"""Rows with text that is no UTF-8. SQLite keeps any bytes as text, and one row that can't be decoded would hide all
that are read with it: a list, the inputs of every run, the timers. Such a text is read as bytes, which whoever reads
the row refuses by name, and the others are read as ever.
"""

# apsw's types name `collections.abc.Buffer`, which Python 3.11 does not have.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import apsw

from plait.stores.columns import Row

Bindings = tuple[object, ...] | Mapping[str, Any]


def fetch_all(db: apsw.Connection, sql: str, args: Bindings = ()) -> list[Any]:
    """What a statement that changes nothing finds."""
    try:
        return db.execute(sql, args).fetchall()  # pyright: ignore[reportArgumentType]
    except UnicodeDecodeError:
        return list(decoded_rows(db, sql, args))


def decoded_rows(db: apsw.Connection, sql: str, args: Bindings = ()) -> Iterator[Row]:
    """The same, row by row, and with care from the first one on."""
    names = [f"c{place}" for place in range(_width(db, sql, args))]
    shown = ", ".join(f"typeof({name}), iif(typeof({name}) = 'text', cast({name} as blob), {name})" for name in names)
    careful = f"with found ({', '.join(names)}) as ({sql.strip().rstrip(';')}) select {shown} from found"
    for columns in db.execute(careful, args):  # pyright: ignore[reportArgumentType]
        yield tuple(map(_value, columns[::2], columns[1::2]))


def _width(db: apsw.Connection, sql: str, args: Bindings) -> int:
    """How many columns it has, found without reading a row."""
    import apsw.ext  # rarely needed, and as large as all of apsw's own

    return len(apsw.ext.query_info(db, sql, args).description)  # pyright: ignore[reportArgumentType, reportAttributeAccessIssue]


def _value(kind: str, column: Any) -> Any:
    if kind != "text":
        return column
    try:
        return column.decode()
    except UnicodeDecodeError:
        return column
