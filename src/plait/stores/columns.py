"""Checks of columns: a bad disk changes them, or a person; and SQLite stores any type in any column. A defect is
reported with the name of its row, so that lists can leave out that row alone."""

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
"""Place, name and allowed types of the columns of a table that are not JSON."""
D = TypeVar("D")

MAYBE_TEXT, MAYBE_NUMBER = (str, NoneType), (int, NoneType)

_any = msgspec.json.Decoder(Raw)
_SEALED = b"~sealed"
"""Prefix of encrypted values, never of JSON. Decrypting them shows whether they were changed."""


def check_types(row: Row, types: Types, whose: str) -> None:
    for place, (name, allowed) in types.items():
        if not isinstance(row[place], allowed):
            raise damaged(whose, f"its column {name} holds {type(row[place]).__name__}")


def decoded(decoder: msgspec.json.Decoder[D], column: str, whose: str) -> D:
    """The decoded value of a JSON column."""
    try:
        return decoder.decode(column)
    except (msgspec.DecodeError, TypeError) as error:
        raise damaged(whose, str(error)) from error


def raw(column: object, whose: str) -> Raw:
    """JSON passed on as it is: if malformed, it would break the whole response that it becomes part of."""
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
