"""Definitions: what can be started, in which versions, under which tags."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from plait.kernel.ids import Millis

from .shape import Body, DialectName, Name, RunIdText, Scoped, Shape, Text

SaveMode = Literal["register", "update", "upsert"]


class Version(Shape, frozen=True, kw_only=True):
    version: str
    hash: str
    created_at: Millis
    """When it was first seen."""
    loaded: bool


class SavedVersion(Version, frozen=True, kw_only=True):
    warnings: list[str] = []
    """Parts of it that its dialect considers probable mistakes."""


class Definition(Shape, frozen=True, kw_only=True):
    name: str
    dialect: str
    version: str
    """The version that the plain name means: the newest if code is loaded; if it is saved, that of the tag `main`."""
    loaded: bool
    doc: str = ""
    input_schema: Any = None
    output_schema: Any = None
    owner: str = ""
    """The saved definition that contains it, and whose versions and tags it shares."""
    offers: list[str] = []
    """Its parts that can be started by names of their own."""
    saved: str = ""
    """The version saved under its name, which can be deleted. Empty for code, and for a part of another definition."""
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
    base: str = ""
    """The version that the patch was applied to, if it was made by one."""
    operations: list[dict[str, Any]] = []
    """The operations of that patch (RFC 6902)."""
    description: str = ""
    """The description of the patch."""
    definition: Any = None
    """The whole definition as JSON, if requested."""


class DefinitionDiff(Shape, frozen=True, kw_only=True):
    name: str
    from_: str = msgspec.field(name="from")
    to: str
    operations: list[dict[str, Any]]
    """The operations (RFC 6902) that turn the first version into the second."""


class ShowVersion(Scoped, frozen=True, kw_only=True):
    materialize: bool = False
    """Whether to send the whole definition as JSON, even if it was made by patches."""


class CompareVersions(Scoped, frozen=True, kw_only=True):
    from_: Name = msgspec.field(name="from")
    to: Name


class ListDefinitions(Scoped, frozen=True, kw_only=True):
    dialect: DialectName | None = None


class DeleteDefinition(Scoped, frozen=True, kw_only=True):
    expected: Name | None = None
    """The version that the name must mean now; refused with 412 if it does not."""


class NewDefinition(Body, frozen=True, kw_only=True):
    dialect: DialectName
    name: Name | None = None
    """The name to save a version under, and to start it by. Without one, its dialect decides how it is saved."""
    definition: Any = msgspec.UNSET
    """The definition in the form that its dialect reads; text is source code."""
    from_run: RunIdText | None = None
    """Instead of a definition: a run to make one from, if its dialect can."""
    options: dict[str, Any] = {}
    """Options for making a definition from that run; see `POST /plan`."""
    mode: SaveMode = "register"
    """`register`: must be new, or the same as before; `update`: must exist; `upsert`: either."""
    breaking: bool = False
    """Whether the version gets the next major number."""
    expected: Name | None = None
    """The version that the name must mean now; refused with 412 if it does not."""


class PatchDefinition(Body, frozen=True, kw_only=True):
    operations: list[dict[str, Any]]
    """RFC 6902; `/nodes/<id>` stands for the item of a list that has this id."""
    description: Text = ""
    breaking: bool = False
    """Whether the new version gets the next major number; else it gets the next minor one."""
    expected: Name | None = None
    """The version that the name must mean now; refused with 412 if it does not."""


class UploadText(Body, frozen=True, kw_only=True):
    text: str
    """A config, a schema or code; at most 1 MB in UTF-8."""


class Uploaded(Shape, frozen=True, kw_only=True):
    ref: str
    """The reference: `cas://sha256:` and the hash."""


class TagVersion(Body, frozen=True, kw_only=True):
    version: Name
    expected: Name | None = None
    """The version that the tag must be on now; refused with 412 if it is not."""


class StepTag(Body, frozen=True, kw_only=True):
    expected: Name | None = None
    """The version that the tag must be on now; refused with 412 if it is not."""
