"""Signed texts: a MAC in front of a payload, in URL-safe base64.

The payload is readable, but can't be changed. Each purpose has its own key, so that a text signed for one is invalid
for another.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac

PREFIX = "plait1."
"""The prefix that makes a signed text recognizable where it should not be: in a log, in a commit."""
_MAC = hashlib.sha256().digest_size
MAX_LENGTH = 4096
"""Maximum length in characters; longer texts are rejected unread. Ours are far shorter."""


class Signer:
    def __init__(self, secret: bytes, purpose: str) -> None:
        self._key = hmac.digest(secret, f"plait.{purpose}".encode(), "sha256")

    def sign(self, payload: bytes) -> str:
        return PREFIX + _base64(self._mac(payload) + payload)

    def verify(self, text: str) -> bytes | None:
        """Returns the payload; None if the text was not signed by us, or was changed."""
        if not text.startswith(PREFIX) or len(text) > MAX_LENGTH:
            return None
        signed = exact_bytes(text.removeprefix(PREFIX)) or b""
        mac, payload = signed[:_MAC], signed[_MAC:]
        return payload if payload and hmac.compare_digest(mac, self._mac(payload)) else None

    def mac(self, text: str) -> str:
        """Returns only the MAC, for a text that the verifier knows."""
        return self._mac(text.encode()).hex()

    def _mac(self, payload: bytes) -> bytes:
        return hmac.digest(self._key, payload, "sha256")


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def exact_bytes(text: str) -> bytes | None:
    """Decodes URL-safe base64. The same bytes have several spellings; only the canonical one is accepted."""
    try:
        found = base64.b64decode(text.encode("ascii") + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (ValueError, binascii.Error):
        return None
    return found if _base64(found) == text else None
