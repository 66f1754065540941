"""Erasing the values of one subject, and the receipt for it."""

from __future__ import annotations

from plait.kernel.ids import Millis

from .shape import Body, Shape

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


class EraseSubject(Body, frozen=True, kw_only=True):
    cancel: bool = False
    """Cancel runs of the subject that have not ended; else they are a reason to refuse."""
