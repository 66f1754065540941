"""AES-256-GCM, and the format of a ciphertext.

    key id (8 bytes) · nonce (12) · ciphertext and tag          as text: ~sealed1~ and base64 of that

A data key encrypts nothing itself: each run, blob and record has a key derived from it. So a row is bound to its owner,
and no key encrypts so many messages that two of them could get the same random nonce.
"""

from __future__ import annotations

import hmac
import os
from binascii import Error as Base64Error
from binascii import a2b_base64, b2a_base64
from collections import OrderedDict
from dataclasses import dataclass, field

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from .scope import Scope

PREFIX = "~sealed1~"
"""The prefix of every sealed text. No JSON text begins with it."""
KEY_BYTES = 32
_PREFIX = PREFIX.encode()
_ID, _NONCE, _TAG = 8, 12, 16
_HEAD = _ID + _NONCE
_REMEMBERED = 10_000


class Unopenable(Exception):
    """The ciphertext was changed, or belongs to another place."""


@dataclass(frozen=True, slots=True, eq=False)
class DataKey:
    id: bytes
    secret: bytes = field(repr=False)
    scope: Scope
    _derived: OrderedDict[str, AESGCM] = field(default_factory=OrderedDict[str, AESGCM], repr=False)

    @property
    def name(self) -> str:
        return self.id.hex()

    def derived(self, owner: str) -> AESGCM:
        """Returns the cipher of one run, blob or record; recently used ones are cached."""
        found = self._derived.get(owner)
        if found is None:
            found = self._derived[owner] = AESGCM(hmac.digest(self.secret, owner.encode(), "sha256"))
            if len(self._derived) > _REMEMBERED:
                self._derived.popitem(last=False)
        return found

    def digest(self, text: str) -> str:
        """A keyed digest: only holders of the key can tell whether two texts are equal."""
        return hmac.digest(self.secret, b"digest:" + text.encode(), "sha256").hex()

    def seal(self, owner: str, place: str, plain: bytes) -> bytes:
        nonce = os.urandom(_NONCE)
        return self.id + nonce + self.derived(owner).encrypt(nonce, plain, place.encode())

    def seal_text(self, owner: str, place: str, plain: bytes) -> str:
        return PREFIX + b2a_base64(self.seal(owner, place, plain), newline=False).decode()

    def seal_blob(self, name: str, body: bytes) -> bytes:
        return _PREFIX + self.seal(name, "blob", body)

    def open(self, owner: str, place: str, sealed: bytes) -> bytes:
        try:
            return self.derived(owner).decrypt(sealed[_ID:_HEAD], sealed[_HEAD:], place.encode())
        except InvalidTag:
            raise Unopenable(place) from None


def is_sealed(text: str | bytes) -> bool:
    return text.startswith(PREFIX) if isinstance(text, str) else text.startswith(_PREFIX)


def unpacked(text: str | bytes) -> bytes:
    """Returns the bytes of a sealed text."""
    try:
        sealed = a2b_base64(text[len(PREFIX) :])
    except (Base64Error, ValueError) as error:
        raise Unopenable(str(error)) from None
    return checked(sealed)


def unpacked_blob(body: bytes) -> bytes:
    return checked(body[len(_PREFIX) :])


def checked(sealed: bytes) -> bytes:
    if len(sealed) < _HEAD + _TAG:
        raise Unopenable("it is too short")
    return sealed


def key_id_of(sealed: bytes) -> bytes:
    return sealed[:_ID]


def new_key_id() -> bytes:
    return os.urandom(_ID)
