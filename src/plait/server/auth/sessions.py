"""Browser sessions: a signed cookie that stands for an API key, so that the key itself is not kept by the browser.

A session ends by its time, by signing out, or with its key. The database keeps only a hash of what the cookie holds:
who reads the database finds no session to take over.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets

import msgspec

from plait.kernel import values
from plait.kernel.clock import Clock
from plait.kernel.ids import Millis
from plait.kernel.records import Record, Records

from . import errors
from .keys import Key, Keys
from .signing import Seal
from .sweeping import dated, sweep
from .ttl_cache import Fresh

SESSION_COOKIE = "plait_session"
CSRF_COOKIE = "plait_csrf"
CSRF_HEADER = "x-plait-csrf"
LIFE = 12 * 3600

_KIND, _NOWHERE = "auth.session", ""


class _Ticket(msgspec.Struct, frozen=True, array_like=True):
    """What the cookie holds."""

    session: str
    nonce: str


class _Kept(msgspec.Struct, frozen=True):
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
    def __init__(self, records: Records, clock: Clock, keys: Keys, secret: bytes, life: int = LIFE) -> None:
        self._records = records
        self._clock = clock
        self._keys = keys
        self._life = life
        self._seal = Seal(secret, "session")
        self._csrf = Seal(secret, "csrf")
        self._fresh = Fresh[_Kept](clock)

    async def start(self, key: Key) -> Opened:
        """A session for whoever has just shown this key."""
        now = self._clock.now()
        expires = Millis(min(now + self._life * 1000, key.expires_at or now + self._life * 1000))
        ticket = _Ticket(dated(expires, secrets.token_hex(8)), secrets.token_urlsafe(24))
        kept = _Kept(_digest(ticket), key.id, expires)
        await sweep(self._records, _KIND, now)
        await self._records.put(Record(_KIND, _NOWHERE, ticket.session, values.encode(kept), now))
        cookie = self._seal.close(msgspec.json.encode(ticket))
        return Opened(cookie, self._csrf.stamp(ticket.session), max(1, (expires - now) // 1000))

    async def find(self, cookie: str) -> Found:
        """The session of a cookie, with its key. Raises `auth.bad_key` or `auth.expired`."""
        ticket = self._ticket(cookie)
        digest = _digest(ticket)
        kept = self._fresh.get(digest)
        if kept is None:
            kept = await self._look(ticket)
            self._fresh.put(digest, kept)
        if kept.expires_at <= self._clock.now():
            raise errors.expired()
        return Found(ticket.session, await self._keys.current(kept.key))

    async def end(self, cookie: str) -> None:
        """Signs out: a copy of the cookie is worth nothing then."""
        ticket = self._ticket(cookie)
        await self._look(ticket)
        await self._records.remove(_KIND, _NOWHERE, ticket.session)
        self._fresh.drop(_digest(ticket))

    def csrf_fits(self, found: Found, given: str) -> bool:
        return hmac.compare_digest(self._csrf.stamp(found.session).encode(), given.encode("utf-8", "replace"))

    def _ticket(self, cookie: str) -> _Ticket:
        payload = self._seal.open(cookie)
        if payload is None:
            raise errors.bad_key()
        return msgspec.json.decode(payload, type=_Ticket)

    async def _look(self, ticket: _Ticket) -> _Kept:
        record = await self._records.get(_KIND, _NOWHERE, ticket.session)
        if record is None:  # signed out, or swept after its time
            raise errors.expired()
        kept = values.decode(record.body, _Kept)
        if not hmac.compare_digest(kept.digest, _digest(ticket)):
            raise errors.bad_key()
        return kept


def _digest(ticket: _Ticket) -> str:
    return hashlib.sha256(f"plait.session\0{ticket.session}\0{ticket.nonce}".encode()).hexdigest()


def set_cookies(opened: Opened, *, secure: bool) -> tuple[str, str]:
    """Whole `Set-Cookie` values. The page's own script reads the second, to send it back in a header."""
    rules = f"; Path=/; Max-Age={opened.seconds}; SameSite=Strict{'; Secure' if secure else ''}"
    return f"{SESSION_COOKIE}={opened.cookie}{rules}; HttpOnly", f"{CSRF_COOKIE}={opened.csrf}{rules}"


def drop_cookies(*, secure: bool) -> tuple[str, str]:
    rules = f"=; Path=/; Max-Age=0; SameSite=Strict{'; Secure' if secure else ''}"
    return f"{SESSION_COOKIE}{rules}; HttpOnly", f"{CSRF_COOKIE}{rules}"
