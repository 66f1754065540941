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
    """What its dialect found that is probably not meant."""


class Definition(Shape, frozen=True, kw_only=True):
    name: str
    dialect: str
    version: str
    """The one that the plain name means: the newest that is loaded; of what is saved, that of the tag `main`."""
    loaded: bool
    doc: str = ""
    input_schema: Any = None
    output_schema: Any = None
    owner: str = ""
    """The saved definition that it is a part of, and whose versions and tags it has."""
    offers: list[str] = []
    """What is in it and can be started by a name of its own."""
    saved: str = ""
    """The version that is saved under its name: what can be deleted. Empty for code, and for a part of another."""
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
    """The version that it was made from by a patch."""
    operations: list[dict[str, Any]] = []
    """That patch: RFC 6902."""
    description: str = ""
    """Of the patch."""
    definition: Any = None
    """The whole as JSON, where that was asked for."""


class DefinitionDiff(Shape, frozen=True, kw_only=True):
    name: str
    from_: str = msgspec.field(name="from")
    to: str
    operations: list[dict[str, Any]]
    """RFC 6902: what makes the first version into the second."""


class ShowVersion(Scoped, frozen=True, kw_only=True):
    materialize: bool = False
    """Send the whole definition as JSON, whatever patches it was made by."""


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
    """Under which it is saved as a version, and started. Without one it is saved as its dialect does that."""
    definition: Any = msgspec.UNSET
    """Of the form that its dialect reads; text is source."""
    from_run: RunIdText | None = None
    """Instead of a definition: a run to make one of, where its dialect can."""
    options: dict[str, Any] = {}
    """What is to become of that run's steps; see `POST /plan`."""
    mode: SaveMode = "register"
    """`register`: must be new, or the same as before; `update`: must exist; `upsert`: either."""
    breaking: bool = False
    """Whether its version gets the next major number."""
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
    """A config, a schema or code, in UTF-8 at most 1 MB."""


class Uploaded(Shape, frozen=True, kw_only=True):
    ref: str
    """`cas://sha256:` and the hash."""


class TagVersion(Body, frozen=True, kw_only=True):
    version: Name
    expected: Name | None = None
    """The version that the tag must be on now; refused with 412 if it is not."""


class StepTag(Body, frozen=True, kw_only=True):
    expected: Name | None = None
    """The version that the tag must be on now; refused with 412 if it is not."""
