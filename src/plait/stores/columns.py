"""Whether columns hold what was put there. A bad disk changes them, so does a hand; and SQLite keeps any type in any
column. What is wrong is refused by the name of its row, so that whoever lists rows can leave out that one alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType
from typing import Any, TypeVar

import msgspec
from msgspec import Raw

from plait.kernel.errors import Damaged
from plait.kernel.values import ABSENT

Row = tuple[Any, ...]
Types = Mapping[int, tuple[str, type | tuple[type, ...]]]
"""Of the columns of a table that are no JSON: the place of each, its name, and what it may hold."""
D = TypeVar("D")

MAYBE_TEXT, MAYBE_NUMBER = (str, NoneType), (int, NoneType)

_any = msgspec.json.Decoder(Raw)
_SEALED = b"~sealed"
"""Begins what encryption has sealed, and no JSON. Whoever opens it finds out whether it was changed."""


def check_types(row: Row, types: Types, whose: str) -> None:
    for place, (name, allowed) in types.items():
        if not isinstance(row[place], allowed):
            raise damaged(whose, f"its column {name} holds {type(row[place]).__name__}")


def decoded(decoder: msgspec.json.Decoder[D], column: str, whose: str) -> D:
    """What a column of JSON holds."""
    try:
        return decoder.decode(column)
    except (msgspec.DecodeError, TypeError) as error:
        raise damaged(whose, str(error)) from error


def raw(column: object, whose: str) -> Raw:
    """JSON that is handed on as it is: malformed, it would spoil the whole answer that it becomes a part of."""
    if column is None:
        return ABSENT
    if not isinstance(column, str):
        raise damaged(whose, f"it holds {type(column).__name__} where JSON is expected")
    text = column.encode()
    if text.startswith(_SEALED):
        return Raw(text)
    try:
        _any.decode(text)
    except msgspec.DecodeError as error:
        raise damaged(whose, str(error)) from error
    return Raw(text)


def damaged(whose: str, why: str) -> Damaged:
    return Damaged(f"the row of {whose} is damaged", why)
