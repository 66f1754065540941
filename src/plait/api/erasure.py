"""Erasing the values of one subject, and the receipt for it."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from plait.kernel.ids import Millis

from .shape import Body, Scoped, Shape, Text

LISTED = 1_000
"""Run ids that a receipt names; `runs` counts all of them."""


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
    """The newest of them, at most 1,000."""
    unencrypted: list[str] = []
    """Runs that began before encryption was turned on: what they held by then is **not** erased. At most 1,000."""


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
    """Cancel runs of the subject that have not ended; else they are a reason to refuse."""
