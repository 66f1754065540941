"""What happens to the definitions of a namespace: the events of its stream."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Raw

from plait.kernel import values
from plait.kernel.definitions import Description, Offer
from plait.kernel.events import Event

Move = Literal["move", "undo", "redo"]
"""Undo goes back to where the tag was before, redo forward again; a move of its own forgets what could be redone."""


class VersionSaved(Event, frozen=True, tag="version.saved"):
    """Its text is a document of its own: the stream stays small, and is read whole by every process."""

    dialect: str
    name: str
    version: str
    hash: str
    about: Raw = values.NULL
    """An `About`; folding need not look into it."""
    patches: int = 0
    """How many patches lie between its text and a version whose text is whole."""
    offers: tuple[str, ...] = ()
    """Other names under which parts of it can be started."""


class TagMoved(Event, frozen=True, tag="tag.moved"):
    """Also put on a version for the first time."""

    name: str
    tag: str
    version: str
    move: Move = "move"


class TagRemoved(Event, frozen=True, tag="tag.removed"):
    name: str
    tag: str


class DefinitionDeleted(Event, frozen=True, tag="definition.deleted"):
    """Nobody can start it any more. Its versions stay, for the runs that they started, and come back with another."""

    name: str


Change = VersionSaved | TagMoved | TagRemoved | DefinitionDeleted


class About(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a list of definitions shows of a version."""

    doc: str = ""
    input_schema: Any = None
    output_schema: Any = None
    offers: list[Offer] = []


def saved(description: Description, patches: int = 0) -> VersionSaved:
    about = About(description.doc, description.input_schema, description.output_schema, description.offers)
    return VersionSaved(
        description.dialect,
        description.name,
        description.version,
        description.hash,
        values.encode(about),
        patches,
        tuple(each.name for each in description.offers),
    )
