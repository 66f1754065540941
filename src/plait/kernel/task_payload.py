"""The input of a queued task on its way to a worker: large parts are blobs, as in events."""

from __future__ import annotations

from typing import Any

import msgspec

from . import blob_parts, values
from .blobs import read_blob
from .store import Store
from .unit_of_work import take_blobs

Blobs = list[tuple[str, bytes]]


def slim(input: Any, threshold: int) -> tuple[bytes, str | None, Blobs]:
    """The input as JSON without its large parts, their places, and the parts."""
    body, refs, blobs = values.plain(input), dict[str, str](), Blobs()
    if len(body) > threshold and isinstance(input, msgspec.Struct):
        body = values.plain(take_blobs(input, 0, threshold, refs, blobs))
    return body, values.plain(refs).decode() if refs else None, blobs


async def whole(store: Store, body: bytes, refs: str | None) -> Any:
    """Rebuilds the input as plain data."""
    found: Any = msgspec.json.decode(body)
    if refs is not None:
        for _, field, key, digest in blob_parts.places(refs):
            blob_parts.put(found, field, key, msgspec.json.decode(await read_blob(store, digest)))
    return found
