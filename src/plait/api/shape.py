"""Base classes of everything that is sent and received, and the text types that several shapes share."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

Text = Annotated[str, Meta(max_length=1000)]
Name = Annotated[str, Meta(min_length=1, max_length=400)]
NodeId = Annotated[str, Meta(min_length=1, max_length=1000)]
RunIdText = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"^[^/\x00-\x1f\x7f]+\Z")]
NamespaceName = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}\Z", max_length=63)]
DialectName = Annotated[str, Meta(min_length=1, max_length=40)]
Label = Annotated[str, Meta(max_length=1200, pattern=r"^[^:]+:")]
"""A label as `key:value`."""
Count = Annotated[int, Meta(ge=0, le=2**53)]
Position = Annotated[int, Meta(ge=1, le=2**53)]
"""The number of an event in its log."""


class Shape(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Base of answers. A newer server may send fields that an older client does not know: they are ignored."""


class Body(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of request bodies; by itself an empty one."""

    @classmethod
    def check_misfit(cls, given: dict[str, Any]) -> None:
        """Called with a body that does not fit; raises if there is a better explanation than where it does not."""


class Query(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of query parameters; by itself none."""


class Scoped(Query, frozen=True, kw_only=True):
    """What every route about things of a namespace takes."""

    namespace: NamespaceName | None = None


class Accepted(Shape, frozen=True, kw_only=True):
    """The request is durable; this is the id it is known by."""

    id: str


class Deleted(Shape, frozen=True, kw_only=True):
    """What was known by this name is not offered any more."""

    name: str


def label_pair(text: Label) -> tuple[str, str]:
    """Splits a label in a query into key and value."""
    key, _, value = text.partition(":")
    return key, value
