"""What a dialect can tell about its definitions."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Numbering = Literal["count", "minor"]
"""Numbering of versions saved without a label: 1, 2, 3; or v1.0, v1.1, with the tag `main` on the version that the
plain name refers to."""


class Offer(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Part of a definition that can be started under its own name, such as one workflow of a program."""

    name: str
    selects: dict[str, Any]
    """The members of the definition's JSON that select it."""
    doc: str = ""
    input_schema: Any = None
    output_schema: Any = None


class Contents(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of a saved definition."""

    definition: dict[str, Any]
    """The definition with everything it includes from elsewhere, so that what is saved never changes."""
    doc: str = ""
    input_schema: Any = None
    output_schema: Any = None
    offers: list[Offer] = []


class Description(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One version of a definition, as people and forms need it."""

    dialect: str
    name: str
    version: str
    """The author's label, or the hash."""
    hash: str
    """Hash of the content: the same label with another hash is another version."""
    doc: str = ""
    file: str = ""
    source: str = ""
    """The source text, if the definition is text."""
    body: Any = None
    """The JSON, if the definition is JSON."""
    input_schema: Any = None
    output_schema: Any = None
    patch: Patched | None = None
    """How this version was derived, if its body is another version's body, patched."""
    offers: list[Offer] = []
    """What else can be started by name. Derived from the content, not part of it."""
    selects: dict[str, Any] = {}
    """Members set in the content when this was found by the name of an offer."""

    def content(self) -> dict[str, Any]:
        """The content as its dialect reads it."""
        return {**(self.body if self.body is not None else {"source": self.source}), **self.selects}

    def chosen(self, name: str) -> Description:
        """The description that `name` refers to: one of its offers, or itself."""
        offer = next((each for each in self.offers if each.name == name), None)
        if offer is None:
            return self
        return msgspec.structs.replace(
            self,
            name=name,
            doc=offer.doc,
            input_schema=offer.input_schema,
            output_schema=offer.output_schema,
            selects=offer.selects,
        )


class Patched(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """How a version was derived from another."""

    base: str
    """The version it was derived from."""
    base_hash: str
    operations: list[dict[str, Any]]
    """RFC 6902 operations."""
    description: str = ""


class Plan(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What a run would do, as far as it can be told before it starts."""

    dialect: str
    definition: str
    version: str | None = None
    input: Any = None
    notes: list[str] = []
    body: Any = None
    """The plan itself, if the dialect makes one."""
    startable: bool = True
