"""Master keys: they wrap the data keys and never leave the ring.

Another kind of ring, such as a KMS, implements `KeyRing`: an engine wraps one key per namespace and unwraps each key
once.
"""

from __future__ import annotations

import hashlib
import os
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from . import errors
from .cipher import KEY_BYTES

_NONCE = 12


class KeyRing(Protocol):
    @property
    def current(self) -> str:
        """The name of the master key that wraps new keys."""
        ...

    async def wrap(self, secret: bytes, context: str) -> bytes:
        """Encrypts a data key with the current master key. `context` must be given again to unwrap it."""
        ...

    async def unwrap(self, name: str, wrapped: bytes, context: str) -> bytes:
        """Decrypts a data key that the named master key wrapped; `codec.wrong_key` if this ring does not have it."""
        ...


class LocalKeyRing:
    """Master keys from the configuration. The first one wraps; the others only unwrap."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        self._keys = {_fingerprint(key): AESGCM(key) for key in keys}
        self.current = next(iter(self._keys))

    @classmethod
    def parse(cls, text: str, where: str) -> LocalKeyRing:
        """Parses keys in base64, separated by commas or line breaks."""
        found = [part.strip() for line in text.splitlines() for part in line.partition("#")[0].split(",")]
        keys = [_decoded(part, where) for part in found if part]
        if not keys:
            raise errors.bad_master_key(where, "it is empty")
        return cls(keys)

    async def wrap(self, secret: bytes, context: str) -> bytes:
        nonce = os.urandom(_NONCE)
        return nonce + self._keys[self.current].encrypt(nonce, secret, context.encode())

    async def unwrap(self, name: str, wrapped: bytes, context: str) -> bytes:
        key = self._keys.get(name)
        if key is None:
            raise errors.wrong_master_key(name, ", ".join(self._keys))
        try:
            return key.decrypt(wrapped[:_NONCE], wrapped[_NONCE:], context.encode())
        except InvalidTag:
            raise errors.damaged(f"a data key that master key {name} wraps") from None


def configured_ring(environment: Mapping[str, str]) -> LocalKeyRing | None:
    """Returns the ring that the environment configures; None if encryption is off."""
    if text := environment.get(errors.KEY):
        return LocalKeyRing.parse(text, errors.KEY)
    if name := environment.get(errors.KEY_FILE):
        try:
            return LocalKeyRing.parse(Path(name).read_text(encoding="utf-8"), name)
        except (OSError, UnicodeDecodeError) as error:
            raise errors.bad_master_key(f"{errors.KEY_FILE}={name}", str(error)) from None
    return None


def new_master_key() -> str:
    return b64encode(os.urandom(KEY_BYTES)).decode()


def _decoded(text: str, where: str) -> bytes:
    try:
        key = b64decode(text, validate=True)
    except (Base64Error, ValueError):
        raise errors.bad_master_key(where, "it is not base64") from None
    if len(key) != KEY_BYTES:
        raise errors.bad_master_key(where, f"it has {len(key)} bytes")
    return key


def _fingerprint(key: bytes) -> str:
    return hashlib.sha256(b"plait master key\0" + key).hexdigest()[:12]
