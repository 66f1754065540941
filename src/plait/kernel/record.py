"""A small document that belongs to no run, and changes of it."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Raw

from . import values
from .errors import Damaged
from .ids import Millis


class Record(msgspec.Struct, frozen=True, gc=False):
    """A key, a tag, an entry of the audit trail."""

    kind: str
    namespace: str
    id: str
    body: Raw
    at: Millis


def read_body(record: Record, type: Any) -> Any:
    """Decodes a record; raises `Damaged` if it was changed by hand or by a bad disk."""
    try:
        return values.decode(record.body, type)
    except msgspec.DecodeError as error:
        raise Damaged(f"the record {record.kind}/{record.namespace}/{record.id} is damaged", str(error)) from error


class RecordChange(msgspec.Struct, frozen=True, gc=False):
    record: Record
    how: Literal["put", "new", "remove", "check"] = "put"
    """`new`: the verdict is `conflict` if the record exists. `check`: nothing is written; the record must be as
    expected."""
    news: bool = False
    """Notifies other processes at once."""
    expected: Millis | None = None
    """The `at` of the record that is replaced or removed: if that differs by now, or the record is gone, `conflict`."""
