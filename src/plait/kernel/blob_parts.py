"""A large value taken apart one level deep, so that each large part of it can be a blob of its own.

Steps are given arguments as a list or by name. Content is addressed by hash, so a value that stands in many of them
is stored once, if it is a blob by itself and not a part of another.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Raw

from . import values

SEPARATOR = "/"
"""Between the place of a value and the key of its part, in a row's list of blobs."""

_MOST = 1000
"""Parts that are looked at one by one."""

_list = msgspec.json.Decoder(list[Raw])
_object = msgspec.json.Decoder(dict[str, Raw])
_refs = msgspec.json.Decoder(dict[str, str])


def split(body: bytes) -> dict[str, Raw]:
    """By index or name; empty if it has no parts, or so many that they are no arguments."""
    if body.startswith(b"["):
        listed = _list.decode(body)
        return {str(index): part for index, part in enumerate(listed)} if len(listed) <= _MOST else {}
    named = _object.decode(body) if body.startswith(b"{") else {}
    return named if len(named) <= _MOST else {}


def join(like: bytes, parts: dict[str, Raw]) -> Raw:
    """The value again, a list or an object as `like` is."""
    return Raw(values.plain(list(parts.values()) if like.startswith(b"[") else parts))


def put(document: dict[str, Any], field: str, key: str | None, value: Any) -> None:
    """Puts a blob's value, or that of a part, back where it stood in plain data."""
    if key is None:
        document[field] = value
    else:
        held = document[field]
        held[int(key) if isinstance(held, list) else key] = value


def places(refs: str) -> Iterator[tuple[int, str, str | None, str]]:
    """Of values that are blobs: the event's index, the field, the part of it if it is one, and the blob's hash."""
    for place, digest in _refs.decode(refs).items():
        index, _, name = place.partition(".")
        field, separator, key = name.partition(SEPARATOR)
        yield int(index), field, key if separator else None, digest
