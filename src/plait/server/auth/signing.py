"""Short texts that only this installation can have written: a MAC in front of a payload, in URL-safe letters.

The payload can be read by whoever holds it; it can't be changed. Each purpose has a key of its own, so
that a text sealed for one is noise to another.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac

PREFIX = "plait1."
"""So that a sealed text can be told when it turns up where it should not: in a log, in a commit."""
_MAC = hashlib.sha256().digest_size
LONGEST = 4096
"""Characters that are looked at; ours are far shorter."""


class Seal:
    def __init__(self, secret: bytes, purpose: str) -> None:
        self._key = hmac.digest(secret, f"plait.{purpose}".encode(), "sha256")

    def close(self, payload: bytes) -> str:
        return PREFIX + _letters(self._mac(payload) + payload)

    def open(self, text: str) -> bytes | None:
        """The payload; None when anything about the text is not as we wrote it."""
        if not text.startswith(PREFIX) or len(text) > LONGEST:
            return None
        sealed = exact_bytes(text.removeprefix(PREFIX)) or b""
        mac, payload = sealed[:_MAC], sealed[_MAC:]
        return payload if payload and hmac.compare_digest(mac, self._mac(payload)) else None

    def stamp(self, of: str) -> str:
        """A MAC alone, of something that its reader knows."""
        return self._mac(of.encode()).hex()

    def _mac(self, payload: bytes) -> bytes:
        return hmac.digest(self._key, payload, "sha256")


def _letters(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def exact_bytes(text: str) -> bytes | None:
    """What URL-safe base64 stands for. It has several spellings of the same bytes; only the proper one counts."""
    try:
        found = base64.b64decode(text.encode("ascii") + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (ValueError, binascii.Error):
        return None
    return found if _letters(found) == text else None
