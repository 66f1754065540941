"""Changes of a namespace's definitions: the events of its stream."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Raw

from plait.kernel import values
from plait.kernel.definitions import Description, Offer
from plait.kernel.events import Event

Move = Literal["move", "undo", "redo"]
"""How a tag moved: undo goes back to its version before, redo forward again; a move clears what could be redone."""


class VersionSaved(Event, frozen=True, tag="version.saved"):
    """A version was saved. Its text is a separate document, because every process reads the whole stream."""

    dialect: str
    name: str
    version: str
    hash: str
    about: Raw = values.NULL
    """An `About`, undecoded: folding does not need it."""
    patches: int = 0
    """The number of patches between its text and a version whose text is whole."""
    offers: tuple[str, ...] = ()
    """Other names under which parts of it can be started."""


class TagMoved(Event, frozen=True, tag="tag.moved"):
    """A tag was moved, or set for the first time."""

    name: str
    tag: str
    version: str
    move: Move = "move"


class TagRemoved(Event, frozen=True, tag="tag.removed"):
    name: str
    tag: str


class DefinitionDeleted(Event, frozen=True, tag="definition.deleted"):
    """A definition was deleted and can't be started any more. Its versions stay for the runs they started, and come
    back when the name is saved again."""

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
