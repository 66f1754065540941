"""The outcome of saving a definition."""

from __future__ import annotations

import msgspec

from plait.api.definition import Version


class Saved(msgspec.Struct, frozen=True):
    version: Version
    new: bool
    """False if the newest version, or the one with that label, was already equal."""
    warnings: tuple[str, ...] = ()
    """Parts of it that its dialect considers probable mistakes."""
