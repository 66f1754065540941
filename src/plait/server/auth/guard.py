"""Authenticates a request and checks that the caller's role is enough for the route.

    Authorization: Bearer plait_…   an API key
    Authorization: Bearer eyJ…      a token of the issuer
    Cookie: plait_session=…         a browser; changes need the CSRF token, too

A header takes precedence over a cookie, and a valid cookie does not make up for an invalid header. Valid keys are never
rate-limited: only invalid ones are, so nobody can lock others out by sending invalid keys from the same address.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import msgspec
from starlette.requests import Request

from plait.api.caller import Caller, Mode, RequiredRole, stranger
from plait.api.key import Key
from plait.engine import Engine
from plait.kernel.clock import Clock

from . import errors
from .audit import Audit
from .keys import Keys
from .links import Links
from .options import AuthOptions, Oidc
from .origins import SAFE_METHODS, cross_origin, origin_of
from .rate_limit import RateLimit, place_of
from .secret import signing_secret
from .sessions import CSRF_HEADER, SESSION_COOKIE, Sessions, delete_cookies, set_cookies

if TYPE_CHECKING:
    from .tokens import Tokens

_TOKEN_START = "eyJ"
"""A JSON object in base64: every JWT begins with this, no key does."""


async def secret_of(engine: Engine, options: AuthOptions) -> bytes:
    return await signing_secret(engine.records, engine.kernel.clock.now(), options.secret)


class Login(msgspec.Struct, frozen=True):
    caller: Caller
    cookies: tuple[str, str]
    """Complete `Set-Cookie` values."""


class KeyGuard:
    """All of authentication and audit for one server process."""

    def __init__(self, engine: Engine, options: AuthOptions, secret: bytes) -> None:
        records, clock = engine.records, engine.kernel.clock
        self.secret = secret
        """The secret that signs what this installation must recognize later."""
        self.audit = Audit(records, clock)
        self.keys = Keys(records, clock)
        self.links = Links(records, clock, secret, self.audit)
        self._sessions = Sessions(records, clock, self.keys, secret, options.session_seconds)
        self._tokens = _tokens(options.oidc, clock) if options.oidc is not None else None
        self._invalid = RateLimit(clock, burst=options.wrong_keys, per_second=1)
        self._tls = options.public_url.startswith("https:")
        self._ours = (origin_of(options.public_url),) if options.public_url else ()

    @classmethod
    async def start(cls, engine: Engine, options: AuthOptions, secret: bytes | None = None) -> KeyGuard:
        return cls(engine, options, secret or await secret_of(engine, options))

    async def close(self) -> None:
        if self._tokens is not None:
            await self._tokens.close()

    async def check(self, request: Request, needed: RequiredRole, *, while_away: bool = False) -> Caller:
        """Returns the caller. Raises 401, 403, 429 for too many invalid keys, 503 while the issuer is unavailable.
        `while_away`: accept known keys while the database is unavailable."""
        address = _address(request)
        try:
            caller = await self._who(request, address, while_away)
        except errors.Unauthenticated as error:
            raise self._rate_limited(error, address) from None
        if not caller.may(needed):
            raise errors.forbidden(caller, needed)
        return caller

    async def login(self, request: Request, key: str) -> Login:
        """Starts a browser session for the holder of a key; returns the cookies to set."""
        address = _address(request)
        if why := cross_origin(request.headers, self._ours):
            raise errors.cross_site(why, stranger(address))
        try:
            found = await self.keys.verify(key.strip())
        except errors.Unauthenticated as error:
            raise self._rate_limited(error, address) from None
        opened = await self._sessions.start(found)
        return Login(_caller(found, "session", address), set_cookies(opened, secure=self._secure(request)))

    async def logout(self, request: Request) -> tuple[str, str]:
        """Ends the session of an authenticated request; returns the cookies that delete it."""
        if cookie := request.cookies.get(SESSION_COOKIE):
            with contextlib.suppress(
                errors.Unauthenticated
            ):  # authenticated by something else, and the session has ended
                await self._sessions.end(cookie)
        return delete_cookies(secure=self._secure(request))

    async def _who(self, request: Request, address: str, while_away: bool) -> Caller:
        scheme, _, text = request.headers.get("authorization", "").strip().partition(" ")
        if scheme.lower() == "bearer":  # other schemes may be meant for a proxy in front of us
            return await self._bearer(text.strip(), address, while_away)
        cookie = request.cookies.get(SESSION_COOKIE)
        if cookie is None:
            raise errors.no_key()
        return await self._browser(cookie, request, address)

    async def _bearer(self, text: str, address: str, while_away: bool) -> Caller:
        if self._tokens is not None and text.startswith(_TOKEN_START):
            return await self._tokens.verify(text, address)
        return _caller(await self.keys.verify(text, while_away=while_away), "key", address)

    async def _browser(self, cookie: str, request: Request, address: str) -> Caller:
        found = await self._sessions.find(cookie)
        caller = _caller(found.key, "session", address)
        if request.method not in SAFE_METHODS:
            if not self._sessions.csrf_matches(found, request.headers.get(CSRF_HEADER, "")):
                raise errors.cross_site("the header X-Plait-CSRF is missing or invalid", caller)
            if why := cross_origin(request.headers, self._ours):
                raise errors.cross_site(why, caller)
        return caller

    def _secure(self, request: Request) -> bool:
        """Whether browsers use https: directly, or through a proxy."""
        return self._tls or request.url.scheme == "https"

    def _rate_limited(self, error: errors.Unauthenticated, address: str) -> errors.Unauthenticated | errors.SlowDown:
        """Counts invalid keys by address. A missing or an expired key is not a guess and does not count."""
        answer = error
        if error.code == "auth.bad_key" and (wait := self._invalid.take(place_of(address))):
            answer = errors.SlowDown(wait)
        answer.caller = stranger(address)
        return answer


def _caller(key: Key, mode: Mode, address: str) -> Caller:
    queues = None if key.queues is None else tuple(key.queues)
    facets = None if key.facets is None else tuple(key.facets)
    return Caller(
        key.name,
        key.role,
        key.namespace,
        mode,
        f"key:{key.id}",
        address,
        queues,
        key.pii,
        facets,
        key.start_rate,
        key.max_running,
    )


def _address(request: Request) -> str:
    return request.client.host if request.client is not None else ""


def _tokens(oidc: Oidc, clock: Clock) -> Tokens:
    from .tokens import Tokens  # its HTTP client and cryptography are a third of what a server imports

    return Tokens(oidc, clock)
