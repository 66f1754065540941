"""What a dialect can tell of the definitions it has."""

from __future__ import annotations

from typing import Any

import msgspec


class Description(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One version of a definition, as people and forms need it."""

    dialect: str
    name: str
    version: str
    """The label that its author gave it, or its hash."""
    hash: str
    """Of its content: the same label with another hash is another version."""
    doc: str = ""
    file: str = ""
    source: str = ""
    """As it was written, where it is text."""
    body: Any = None
    """As JSON, where it is that."""
    input_schema: Any = None
    output_schema: Any = None


class Reference(msgspec.Struct, frozen=True):
    """How a definition is named in JSON."""

    dialect: str
    definition: Any


class Plan(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What a run would do, as far as it can be told before it is started."""

    dialect: str
    definition: str
    version: str | None = None
    input: Any = None
    notes: list[str] = []
    body: Any = None
    """The plan itself, where the dialect makes one."""
    startable: bool = True
