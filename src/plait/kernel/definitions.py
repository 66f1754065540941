"""What a dialect can tell of the definitions it has."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Numbering = Literal["count", "minor"]
"""How versions are called that are saved without a label: 1, 2, 3; or v1.0, v1.1, with the tag `main` on the one that
the plain name means."""


class Offer(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Something in a definition that can be started by a name of its own, such as one workflow of a program."""

    name: str
    selects: dict[str, Any]
    """The members of the definition, as JSON, that choose it."""
    doc: str = ""
    input_schema: Any = None
    output_schema: Any = None


class Contents(msgspec.Struct, frozen=True, kw_only=True):
    """What a definition that is saved has in it."""

    definition: dict[str, Any]
    """With all that it takes from elsewhere, so that what is saved never changes."""
    doc: str = ""
    input_schema: Any = None
    output_schema: Any = None
    offers: list[Offer] = []


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
    offers: list[Offer] = []
    """What else can be started by a name: it is not a part of the content, but follows from it."""
    selects: dict[str, Any] = {}
    """Set in the content, where it was found by the name of an offer."""

    def content(self) -> dict[str, Any]:
        """As its dialect reads it."""
        return {**(self.body if self.body is not None else {"source": self.source}), **self.selects}

    def chosen(self, name: str) -> Description:
        """As what `name` means: one of its offers, or itself."""
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
