"""Erasing the values of one subject, and the receipt for it."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from plait.kernel.ids import Millis

from .shape import Body, Scoped, Shape, Text

LISTED = 1_000
"""Maximum number of run ids in a receipt; `runs` counts all of them."""


class Receipt(Shape, frozen=True, kw_only=True):
    """That the keys of a subject were destroyed: its values can't be read any more, by anyone."""

    id: str
    subject: str
    namespace: str
    at: Millis
    by: str
    keys: list[str]
    """The ids of the data keys that were destroyed; empty if nothing was ever encrypted with one."""
    runs: int
    run_ids: list[str]
    """The ids of the newest runs, at most 1,000."""
    unencrypted: list[str] = []
    """Runs that started before encryption was turned on: values they stored before that are **not** erased. At most
    1,000."""


class ReceiptPage(Shape, frozen=True, kw_only=True):
    receipts: list[Receipt]
    next: str | None = None
    """The cursor of the next page, if there is one."""


class ListReceipts(Scoped, frozen=True, kw_only=True):
    cursor: Text | None = None
    limit: Annotated[int, Meta(ge=1, le=500)] = 50


class EraseSubject(Body, frozen=True, kw_only=True):
    subject: Annotated[str, Meta(min_length=1, max_length=200)]
    cancel: bool = False
    """Whether to cancel runs of the subject that have not ended; otherwise such runs make the request fail."""
