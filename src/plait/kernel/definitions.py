"""What a dialect can tell of the definitions it has."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Numbering = Literal["count", "minor"]
"""How versions are called that are saved without a label: 1, 2, 3; or v1.0, v1.1, with the tag `main` on the one that
the plain name means."""


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
    patch: Patched | None = None
    """Where the version was made by changing another: its body is that one's, patched."""


class Patched(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """How a version came from another."""

    base: str
    """That version."""
    base_hash: str
    operations: list[dict[str, Any]]
    """RFC 6902."""
    description: str = ""


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
