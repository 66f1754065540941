"""The guard: finds out who sent a request, and whether his role is enough for the route.

    Authorization: Bearer plait_…   an API key
    Authorization: Bearer eyJ…      a token of the issuer
    Cookie: plait_session=…         a browser; changes need the CSRF token, too

A header counts more than a cookie, and a bad header is not made good by a cookie. Good keys are never damped: only
wrong ones run out of tries, so nobody can lock others out by sending wrong keys from the same address.
"""

from __future__ import annotations

import contextlib
from typing import Any

import msgspec
from starlette.requests import Request

from plait.registry import Engine
from plait.server.caller import Caller, Mode
from plait.server.routes import Route

from . import errors
from .allowance import Allowance, place_of
from .audit import Audit
from .keys import Key, Keys
from .known import Known, stranger
from .links import Links
from .options import AuthOptions
from .origins import SAFE, foreign, origin_of
from .secret import signing_secret
from .sessions import CSRF_HEADER, SESSION_COOKIE, Sessions, drop_cookies, set_cookies
from .tokens import Tokens

_TOKEN_START = "eyJ"
"""A JSON object in base64: every JWT begins so, no key does."""


async def secret_of(engine: Engine, options: AuthOptions) -> bytes:
    return await signing_secret(engine.records, engine.kernel.clock.now(), options.secret)


class Login(msgspec.Struct, frozen=True):
    caller: Known
    cookies: tuple[str, str]
    """Whole `Set-Cookie` values."""


class KeyGuard:
    """All that has to do with who may do what, for one server process."""

    def __init__(self, engine: Engine, options: AuthOptions, secret: bytes) -> None:
        records, clock = engine.records, engine.kernel.clock
        self.secret = secret
        """Signs what this installation must know again."""
        self.audit = Audit(records, clock)
        self.keys = Keys(records, clock)
        self.links = Links(records, clock, secret, self.audit)
        self._sessions = Sessions(records, clock, self.keys, secret, options.session_seconds)
        self._tokens = Tokens(options.oidc, clock) if options.oidc is not None else None
        self._wrong = Allowance(clock, burst=options.wrong_keys, per_second=1)
        self._tls = options.public_url.startswith("https:")
        self._ours = (origin_of(options.public_url),) if options.public_url else ()

    @classmethod
    async def start(cls, engine: Engine, options: AuthOptions, secret: bytes | None = None) -> KeyGuard:
        return cls(engine, options, secret or await secret_of(engine, options))

    async def close(self) -> None:
        if self._tokens is not None:
            await self._tokens.close()

    async def check(self, request: Request, route: Route[Any, Any]) -> Caller:
        """Who calls. Raises 401, 403, 429 when wrong keys come too fast, 503 while the issuer is away."""
        address = _address(request)
        try:
            caller = await self._who(request, address)
        except errors.NotKnown as error:
            raise self._damped(error, address) from None
        if not caller.may(route.role):
            raise errors.forbidden(caller, route.role)
        return caller

    async def login(self, request: Request, key: str) -> Login:
        """A browser session for who shows a key: the cookies to set."""
        address = _address(request)
        if why := foreign(request.headers, self._ours):
            raise errors.cross_site(why, stranger(address))
        try:
            found = await self.keys.verify(key.strip())
        except errors.NotKnown as error:
            raise self._damped(error, address) from None
        opened = await self._sessions.start(found)
        return Login(_caller(found, "session", address), set_cookies(opened, secure=self._secure(request)))

    async def logout(self, request: Request) -> tuple[str, str]:
        """Ends the session of a request that `check` let in; the cookies that drop it."""
        if cookie := request.cookies.get(SESSION_COOKIE):
            with contextlib.suppress(errors.NotKnown):  # let in by something else, and the session is over already
                await self._sessions.end(cookie)
        return drop_cookies(secure=self._secure(request))

    async def _who(self, request: Request, address: str) -> Known:
        scheme, _, text = request.headers.get("authorization", "").strip().partition(" ")
        if scheme.lower() == "bearer":  # others may be meant for a proxy in front of us
            return await self._bearer(text.strip(), address)
        cookie = request.cookies.get(SESSION_COOKIE)
        if cookie is None:
            raise errors.no_key()
        return await self._browser(cookie, request, address)

    async def _bearer(self, text: str, address: str) -> Known:
        if self._tokens is not None and text.startswith(_TOKEN_START):
            return await self._tokens.verify(text, address)
        return _caller(await self.keys.verify(text), "key", address)

    async def _browser(self, cookie: str, request: Request, address: str) -> Known:
        found = await self._sessions.find(cookie)
        caller = _caller(found.key, "session", address)
        if request.method not in SAFE:
            if not self._sessions.csrf_fits(found, request.headers.get(CSRF_HEADER, "")):
                raise errors.cross_site("its header X-Plait-CSRF is missing or wrong", caller)
            if why := foreign(request.headers, self._ours):
                raise errors.cross_site(why, caller)
        return caller

    def _secure(self, request: Request) -> bool:
        """Whether browsers reach us by https: themselves, or through a proxy."""
        return self._tls or request.url.scheme == "https"

    def _damped(self, error: errors.NotKnown, address: str) -> errors.NotKnown | errors.SlowDown:
        """Wrong keys are counted by address. No key at all, and a key of the past, are no guesses."""
        answer = error
        if error.code == "auth.bad_key" and (wait := self._wrong.take(place_of(address))):
            answer = errors.SlowDown(wait)
        answer.caller = stranger(address)
        return answer


def _caller(key: Key, mode: Mode, address: str) -> Known:
    return Known(key.name, key.role, key.namespace, mode, f"key:{key.id}", address)


def _address(request: Request) -> str:
    return request.client.host if request.client is not None else ""
