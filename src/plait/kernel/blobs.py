"""Values kept by the hash of their content: named by it, and checked against it whenever one is read."""

from __future__ import annotations

import hashlib

from .errors import Damaged
from .store import Store


def digest_of(body: bytes) -> str:
    return f"cas://sha256:{hashlib.sha256(body).hexdigest()}"


async def read_blob(store: Store, digest: str) -> bytes:
    """Refuses one that is not what was stored under that hash."""
    body = await store.blob(digest)
    if digest_of(body) != digest:
        raise Damaged("a large value is damaged", f"what is stored under {digest} has another hash")
    return body
