"""A small document that belongs to no run, and how it is changed."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Raw

from .ids import Millis


class Record(msgspec.Struct, frozen=True, gc=False):
    """A key, a tag, an entry of the audit trail."""

    kind: str
    namespace: str
    id: str
    body: Raw
    at: Millis


class RecordChange(msgspec.Struct, frozen=True, gc=False):
    record: Record
    how: Literal["put", "new", "remove", "check"] = "put"
    """new: the verdict is `conflict` if it is there already. check: nothing is written, it has to be as expected."""
    news: bool = False
    """Other processes should know of it at once."""
    expected: Millis | None = None
    """The `at` of the record whose place it takes, or that goes: if it is another by now, or gone, `conflict`."""
