"""A small document that belongs to no run, and how it is changed."""

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
    """What a record holds; refuses one that was changed by hand or by a bad disk."""
    try:
        return values.decode(record.body, type)
    except msgspec.DecodeError as error:
        raise Damaged(f"the record {record.kind}/{record.namespace}/{record.id} is damaged", str(error)) from error


class RecordChange(msgspec.Struct, frozen=True, gc=False):
    record: Record
    how: Literal["put", "new", "remove", "check"] = "put"
    """new: the verdict is `conflict` if it is there already. check: nothing is written, it has to be as expected."""
    news: bool = False
    """Other processes should know of it at once."""
    expected: Millis | None = None
    """The `at` of the record whose place it takes, or that goes: if it is another by now, or gone, `conflict`."""
