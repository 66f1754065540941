"""A definition as people see it: its versions, its tags, and what its newest version says of itself."""

from __future__ import annotations

from typing import Any

import msgspec

from plait.kernel.ids import Millis


class Version(msgspec.Struct, frozen=True, kw_only=True):
    version: str
    hash: str
    created_at: Millis
    """When it was saved, or first seen."""
    loaded: bool
    """Whether this process has its code."""


class Definition(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    name: str
    dialect: str
    version: str
    """The newest one that is loaded, or else the newest."""
    loaded: bool
    doc: str = ""
    input_schema: Any = None
    output_schema: Any = None
    tags: dict[str, str]
    versions: list[Version]
    """Newest first."""


class Saved(msgspec.Struct, frozen=True):
    version: Version
    new: bool
    """False if the newest version, or the one of that label, said the same already."""
