"""Values stored under the hash of their content, which is verified on every read."""

from __future__ import annotations

import hashlib

from .errors import Damaged
from .store import Store

_PLAIN = "cas://sha256:"


def digest_of(body: bytes) -> str:
    return f"{_PLAIN}{hashlib.sha256(body).hexdigest()}"


async def read_blob(store: Store, digest: str) -> bytes:
    """The blob of this digest; raises `Damaged` if the content does not match. Another kind of name means an encrypted
    value, which the store itself has authenticated."""
    body = await store.blob(digest)
    if digest.startswith(_PLAIN) and digest_of(body) != digest:
        raise Damaged("a large value is damaged", f"what is stored under {digest} has another hash")
    return body
