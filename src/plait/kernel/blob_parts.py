"""A large value split one level deep, so that each large part can be a blob of its own.

Steps get arguments as a list or by name. Content is addressed by hash, so a value that appears in many of them is
stored once if it is a blob by itself and not part of another.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Raw

from . import values

SEPARATOR = "/"
"""Separates a value's place from the key of its part, in a row's list of blobs."""

_MOST = 1000
"""Most parts a value is split into."""

_list = msgspec.json.Decoder(list[Raw])
_object = msgspec.json.Decoder(dict[str, Raw])
_refs = msgspec.json.Decoder(dict[str, str])


def split(body: bytes) -> dict[str, Raw]:
    """The parts by index or name; empty if there are none, or too many to be arguments."""
    if body.startswith(b"["):
        listed = _list.decode(body)
        return {str(index): part for index, part in enumerate(listed)} if len(listed) <= _MOST else {}
    named = _object.decode(body) if body.startswith(b"{") else {}
    return named if len(named) <= _MOST else {}


def join(like: bytes, parts: dict[str, Raw]) -> Raw:
    """Rebuilds the value, as a list or an object like `like`."""
    return Raw(values.plain(list(parts.values()) if like.startswith(b"[") else parts))


def put(document: dict[str, Any], field: str, key: str | None, value: Any) -> None:
    """Puts a blob's value, or that of a part, back into its place in plain data."""
    if key is None:
        document[field] = value
    else:
        held = document[field]
        held[int(key) if isinstance(held, list) else key] = value


def places(refs: str) -> Iterator[tuple[int, str, str | None, str]]:
    """Each value that is a blob: the event's index, the field, the part if it is one, and the blob's hash."""
    for place, digest in _refs.decode(refs).items():
        index, _, name = place.partition(".")
        field, separator, key = name.partition(SEPARATOR)
        yield int(index), field, key if separator else None, digest
