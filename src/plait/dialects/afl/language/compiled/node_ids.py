"""Ids of nodes: UUIDs derived from a node's path, so that the same source always compiles to the same bytes."""

from __future__ import annotations

import hashlib
import uuid

_SPACE = uuid.uuid5(uuid.NAMESPACE_URL, "urn:plait:afl").bytes


def node_id(path: str) -> str:
    """UUIDv5 of the path. Computed here because a large program has a hundred thousand nodes and `uuid` is slow."""
    digest = bytearray(hashlib.sha1(_SPACE + path.encode(), usedforsecurity=False).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x50
    digest[8] = digest[8] & 0x3F | 0x80
    text = digest.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
