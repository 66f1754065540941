"""A large payload as an agent gets it from a graph that summarizes: its address, and a preview of at most 2 KB."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from plait.agents.preview import preview, reference

_encode = msgspec.json.Encoder().encode


def summarized(payload: Raw, above: int | None) -> Raw:
    """The payload itself if it is small enough."""
    data = bytes(payload)
    if above is None or len(data) <= above:
        return payload
    return Raw(_encode({"ref": reference(payload), "bytes": len(data), "preview": preview(msgspec.json.decode(data))}))
