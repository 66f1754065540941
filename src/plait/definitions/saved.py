"""What became of a definition that was saved."""

from __future__ import annotations

import msgspec

from plait.api.definition import Version


class Saved(msgspec.Struct, frozen=True):
    version: Version
    new: bool
    """False if the newest version, or the one of that label, said the same already."""
    warnings: tuple[str, ...] = ()
    """What its dialect found that is probably not meant."""
