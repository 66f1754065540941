"""The first names of references."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple, cast

from plait.definitions.flaws import escape

from .template import Malformed, Ref, parse

INPUT: Final = "input"
ITEM: Final = "item"
INDEX: Final = "index"
CTX: Final = "ctx"
RESERVED: Final = frozenset((INPUT, ITEM, INDEX, CTX))
CTX_FIELDS: Final = ("execution_id", "workflow_collection_id", "parent_execution_id", "depth")


class Place(NamedTuple):
    """A token in a JSON value."""

    pointer: str
    token: Ref | Malformed
    whole: bool
    """Whether it is its entire string."""


def heads(value: Any) -> set[str]:
    """The names that a value may depend on: those of steps, if the definition has them."""
    return {place.token.head for place in places(value) if isinstance(place.token, Ref)} - RESERVED


def places(value: Any, pointer: str = "") -> Iterator[Place]:
    """Every token in a value, with its place."""
    if isinstance(value, str):
        if "@" in value:
            template = parse(value)
            for part in template.parts:
                if not isinstance(part, str):
                    yield Place(pointer, part, len(template.parts) == 1)
    elif isinstance(value, dict):
        for key, each in cast("dict[str, Any]", value).items():
            yield from places(each, f"{pointer}/{escape(key)}")
    elif isinstance(value, list):
        for index, each in enumerate(cast("list[Any]", value)):
            yield from places(each, f"{pointer}/{index}")
