"""Definitions: what can be started, in which versions, under which tags."""

from __future__ import annotations

from typing import Any, Literal

from plait.kernel.ids import Millis

from .shape import Body, DialectName, Name, Scoped, Shape

SaveMode = Literal["register", "update", "upsert"]


class Version(Shape, frozen=True, kw_only=True):
    version: str
    hash: str
    created_at: Millis
    """When it was first seen."""
    loaded: bool


class Definition(Shape, frozen=True, kw_only=True):
    name: str
    dialect: str
    version: str
    """The one that the plain name means: the newest that is loaded; of what is saved, that of the tag `main`."""
    loaded: bool
    doc: str = ""
    input_schema: Any = None
    output_schema: Any = None
    tags: dict[str, str]
    versions: list[Version]


class DefinitionList(Shape, frozen=True, kw_only=True):
    definitions: list[Definition]


class DefinitionVersion(Shape, frozen=True, kw_only=True):
    name: str
    dialect: str
    version: str
    hash: str
    created_at: Millis
    """When it was first seen."""
    loaded: bool
    doc: str = ""
    source: str = ""
    file: str = ""
    input_schema: Any = None
    output_schema: Any = None


class ListDefinitions(Scoped, frozen=True, kw_only=True):
    dialect: DialectName | None = None


class NewDefinition(Body, frozen=True, kw_only=True):
    dialect: DialectName
    name: Name | None = None
    """Under which it is saved as a version, and started. Without one it is saved as its dialect does that."""
    definition: Any
    """Of the form that its dialect reads; text is source."""
    mode: SaveMode = "register"
    """`register`: must be new, or the same as before; `update`: must exist; `upsert`: either."""


class TagVersion(Body, frozen=True, kw_only=True):
    version: Name
