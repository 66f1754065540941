"""Browser sessions: a signed cookie that stands for an API key, so that the browser does not store the key itself.

A session ends when it expires, by signing out, or with its key. The database stores only a hash of the cookie's
content: someone who reads the database finds no session to take over.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets

import msgspec

from plait.api.key import Key
from plait.kernel import values
from plait.kernel.clock import Clock
from plait.kernel.ids import Millis
from plait.kernel.records import Record, Records, read_body

from . import errors
from .expiry import delete_expired, expiring_id
from .keys import Keys
from .signing import Signer
from .ttl_cache import TtlCache

SESSION_COOKIE = "plait_session"
CSRF_COOKIE = "plait_csrf"
CSRF_HEADER = "x-plait-csrf"
LIFETIME = 12 * 3600

_KIND, _NOWHERE = "auth.session", ""


class _Ticket(msgspec.Struct, frozen=True, array_like=True):
    """The cookie's content."""

    session: str
    nonce: str


class _Stored(msgspec.Struct, frozen=True):
    digest: str
    key: str
    expires_at: Millis


class Opened(msgspec.Struct, frozen=True):
    cookie: str
    csrf: str
    seconds: int


class Found(msgspec.Struct, frozen=True):
    session: str
    key: Key


class Sessions:
    def __init__(self, records: Records, clock: Clock, keys: Keys, secret: bytes, lifetime: int = LIFETIME) -> None:
        self._records = records
        self._clock = clock
        self._keys = keys
        self._lifetime = lifetime
        self._cookie = Signer(secret, "session")
        self._csrf = Signer(secret, "csrf")
        self._cache = TtlCache[_Stored](clock)

    async def start(self, key: Key) -> Opened:
        """Starts a session for the holder of this key."""
        now = self._clock.now()
        expires = Millis(min(now + self._lifetime * 1000, key.expires_at or now + self._lifetime * 1000))
        ticket = _Ticket(expiring_id(expires, secrets.token_hex(8)), secrets.token_urlsafe(24))
        stored = _Stored(_digest(ticket), key.id, expires)
        await delete_expired(self._records, _KIND, now)
        await self._records.put(Record(_KIND, _NOWHERE, ticket.session, values.encode(stored), now))
        cookie = self._cookie.sign(msgspec.json.encode(ticket))
        return Opened(cookie, self._csrf.mac(ticket.session), max(1, (expires - now) // 1000))

    async def find(self, cookie: str) -> Found:
        """Returns the session of a cookie, with its key. Raises `auth.bad_key` or `auth.expired`."""
        ticket = self._ticket(cookie)
        digest = _digest(ticket)
        stored = self._cache.get(digest)
        if stored is None:
            stored = await self._look(ticket)
            self._cache.put(digest, stored)
        if stored.expires_at <= self._clock.now():
            raise errors.expired()
        return Found(ticket.session, await self._keys.current(stored.key))

    async def end(self, cookie: str) -> None:
        """Signs out, which also makes copies of the cookie worthless."""
        ticket = self._ticket(cookie)
        await self._look(ticket)
        await self._records.remove(_KIND, _NOWHERE, ticket.session)
        self._cache.drop(_digest(ticket))

    def csrf_matches(self, found: Found, given: str) -> bool:
        return hmac.compare_digest(self._csrf.mac(found.session).encode(), given.encode("utf-8", "replace"))

    def _ticket(self, cookie: str) -> _Ticket:
        payload = self._cookie.verify(cookie)
        if payload is None:
            raise errors.bad_key()
        return msgspec.json.decode(payload, type=_Ticket)

    async def _look(self, ticket: _Ticket) -> _Stored:
        record = await self._records.get(_KIND, _NOWHERE, ticket.session)
        if record is None:  # signed out, or deleted after it expired
            raise errors.expired()
        stored = read_body(record, _Stored)
        if not hmac.compare_digest(stored.digest, _digest(ticket)):
            raise errors.bad_key()
        return stored


def _digest(ticket: _Ticket) -> str:
    return hashlib.sha256(f"plait.session\0{ticket.session}\0{ticket.nonce}".encode()).hexdigest()


def set_cookies(opened: Opened, *, secure: bool) -> tuple[str, str]:
    """Returns complete `Set-Cookie` values. The page's script reads the second, to send it back in a header."""
    rules = f"; Path=/; Max-Age={opened.seconds}; SameSite=Strict{'; Secure' if secure else ''}"
    return f"{SESSION_COOKIE}={opened.cookie}{rules}; HttpOnly", f"{CSRF_COOKIE}={opened.csrf}{rules}"


def delete_cookies(*, secure: bool) -> tuple[str, str]:
    rules = f"=; Path=/; Max-Age=0; SameSite=Strict{'; Secure' if secure else ''}"
    return f"{SESSION_COOKIE}{rules}; HttpOnly", f"{CSRF_COOKIE}{rules}"
