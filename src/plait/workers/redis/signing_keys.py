"""Keys that sign envelopes: one per namespace, and its predecessor, which is valid until the next rotation. They are
records of the store; workers get theirs from an operator."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from plait.definitions.hashing import canonical
from plait.kernel import values
from plait.kernel.clock import Clock
from plait.kernel.ids import Millis
from plait.kernel.records import Record, Records, read_body

_KIND, _ID = "redis.signing_keys", "keys"
_VALID = 2
"""Number of valid keys: the one that signs, and the one that workers may still have."""


class SigningKey(msgspec.Struct, frozen=True):
    id: str
    secret: str
    """In hexadecimal; the HMAC uses the decoded bytes."""
    created_at: Millis

    def sign(self, document: Mapping[str, Any]) -> str:
        """HMAC-SHA256 of the canonical JSON (RFC 8785)."""
        return hmac.new(bytes.fromhex(self.secret), canonical(dict(document)), hashlib.sha256).hexdigest()


class KeyRing:
    """The valid keys of one namespace, newest first."""

    def __init__(self, keys: Sequence[SigningKey]) -> None:
        self.keys = keys

    @property
    def current(self) -> SigningKey:
        return self.keys[0]

    def verifies(self, document: Mapping[str, Any], signature: str, signed_by: str) -> bool:
        key = next((key for key in self.keys if key.id == signed_by), None)
        return key is not None and hmac.compare_digest(key.sign(document).encode(), signature.encode())


class SigningKeys:
    def __init__(self, records: Records, clock: Clock) -> None:
        self._records = records
        self._clock = clock

    async def ring(self, namespace: str) -> KeyRing:
        """The current keys; the first call creates one."""
        found = await self._records.get(_KIND, namespace, _ID)
        if found is None:
            await self._records.add(self._record(namespace, [self._fresh()]))  # of two concurrent writers, one wins
            found = await self._records.get(_KIND, namespace, _ID)
            assert found is not None
        return KeyRing(read_body(found, list[SigningKey]))

    async def rotate(self, namespace: str) -> KeyRing:
        """Creates a new signing key; the previous one stays valid until the next rotation."""
        before = await self.ring(namespace)
        await self._records.put(self._record(namespace, [self._fresh(), *before.keys][:_VALID]))
        return await self.ring(namespace)

    def _fresh(self) -> SigningKey:
        return SigningKey(secrets.token_hex(4), secrets.token_hex(32), self._clock.now())

    def _record(self, namespace: str, keys: Sequence[SigningKey]) -> Record:
        return Record(_KIND, namespace, _ID, body=values.encode(keys), at=self._clock.now())
