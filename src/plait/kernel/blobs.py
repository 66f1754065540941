"""Values kept by the hash of their content: named by it, and checked against it whenever one is read."""

from __future__ import annotations

import hashlib

from .errors import Damaged
from .store import Store

_PLAIN = "cas://sha256:"


def digest_of(body: bytes) -> str:
    return f"{_PLAIN}{hashlib.sha256(body).hexdigest()}"


async def read_blob(store: Store, digest: str) -> bytes:
    """Refuses one that is not what was stored under that hash. A name that is none is of an encrypted value, which
    the store itself has authenticated."""
    body = await store.blob(digest)
    if digest.startswith(_PLAIN) and digest_of(body) != digest:
        raise Damaged("a large value is damaged", f"what is stored under {digest} has another hash")
    return body
