"""The public keys of an OIDC issuer, found by discovery and cached.

A token whose key is known never waits for the issuer: keys that are due for renewal are fetched in the background. An
unknown key causes a fetch, but not more often than `PAUSE`, whoever sends it. While the issuer is unavailable, the keys
it last published stay valid for `STALE`; tokens of unknown keys get 503.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import Any, cast
from urllib.parse import urlsplit

import httpx
import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from plait.kernel import values
from plait.kernel.clock import Clock
from plait.kernel.errors import InvalidInput, PlaitError

from . import errors
from .loopback import is_loopback
from .options import ALGORITHMS

log = logging.getLogger("plait.server.auth")

TIMEOUT = 5.0
PAUSE = 10.0
RENEW = 600.0
STALE = 86_400.0
"""Seconds for which the last published keys stay valid while the issuer is unavailable."""

_CURVES = {"ES256": "P-256", "EdDSA": "Ed25519"}
_MAX_BYTES = 1_000_000
_MAX_KEYS = 100
_MIN_RSA_BITS = 2048
_WELL_KNOWN = "/.well-known/openid-configuration"


class Issuer:
    def __init__(self, url: str, clock: Clock, algorithms: tuple[str, ...] = ALGORITHMS) -> None:
        self.url = url
        _check_safe(url)
        self._clock = clock
        self._algorithms = _allowed(algorithms)
        self._client = httpx.AsyncClient(timeout=TIMEOUT, follow_redirects=False)
        self._keys: dict[str, jwt.PyJWK] = {}
        self._fetched_at = self._tried_at = float("-inf")
        self._failed = False
        self._fetching: asyncio.Task[None] | None = None

    async def key(self, kid: str, algorithm: str) -> jwt.PyJWK:
        """Returns the key that a token claims to be signed with. Raises `auth.bad_key` or `auth.issuer_away`."""
        if algorithm not in self._algorithms:
            raise errors.bad_key()
        if self._age() > STALE:
            self._keys = {}
        if (known := self._keys.get(kid)) is not None:
            if self._age() > RENEW:
                self._fetch_in_background()
            return _fitting(known, algorithm)
        if (fetching := self._fetch_in_background()) is not None:
            await asyncio.shield(fetching)
        if (known := self._keys.get(kid)) is not None:
            return _fitting(known, algorithm)
        raise errors.IssuerUnavailable() if self._failed else errors.bad_key()

    async def close(self) -> None:
        if self._fetching is not None:
            self._fetching.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._fetching
        await self._client.aclose()

    def _age(self) -> float:
        return self._clock.monotonic() - self._fetched_at

    def _fetch_in_background(self) -> asyncio.Task[None] | None:
        """Returns the fetch in progress, or starts one; None if the last was too recent."""
        if self._fetching is not None and not self._fetching.done():
            return self._fetching
        now = self._clock.monotonic()
        if now - self._tried_at < PAUSE:
            return None
        self._tried_at = now
        self._fetching = asyncio.get_running_loop().create_task(self._fetch(), name="plait.auth.issuer")
        return self._fetching

    async def _fetch(self) -> None:
        try:
            async with asyncio.timeout(2 * TIMEOUT):
                found = await self._discover()
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, PlaitError, TypeError, ValueError) as error:
            self._failed = True
            log.warning("can't fetch the keys of the issuer %s: %s", self.url, error or type(error).__name__)
            return
        self._keys, self._failed, self._fetched_at = found, False, self._clock.monotonic()

    async def _discover(self) -> dict[str, jwt.PyJWK]:
        about = await self._get(self.url.rstrip("/") + _WELL_KNOWN)
        if about.get("issuer") != self.url:
            raise ValueError(f"its document names the issuer {str(about.get('issuer'))[:200]!r}")
        where = str(about.get("jwks_uri"))
        _check_safe(where)
        listed = (await self._get(where)).get("keys")
        if not isinstance(listed, list):
            raise ValueError("its key set has no `keys`")
        return _usable(cast("list[Any]", listed)[:_MAX_KEYS])

    async def _get(self, url: str) -> dict[str, Any]:
        body = b""
        async with self._client.stream("GET", url, headers={"accept": "application/json"}) as response:
            response.raise_for_status()
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > _MAX_BYTES:
                    raise ValueError(f"{url} is larger than {_MAX_BYTES:,} bytes")
        document = values.parse(body)
        if response.status_code != 200 or not isinstance(document, dict):
            raise ValueError(f"{url} is not a JSON object")
        return cast("dict[str, Any]", document)


def _usable(listed: list[Any]) -> dict[str, jwt.PyJWK]:
    """Returns the keys for signatures that we accept; skips keys of other uses or kinds."""
    found: dict[str, jwt.PyJWK] = {}
    for each in listed:
        if not isinstance(each, dict):
            continue
        data = cast("dict[str, Any]", each)
        kid = data.get("kid", "")
        with contextlib.suppress(jwt.PyJWTError, KeyError, TypeError, ValueError):
            key = jwt.PyJWK(data)
            if isinstance(kid, str) and data.get("use", "sig") == "sig" and _is_strong(data, key):
                found[kid] = key
    return found


def _is_strong(data: dict[str, Any], key: jwt.PyJWK) -> bool:
    if key.algorithm_name == "RS256":
        return isinstance(key.key, RSAPublicKey) and key.key.key_size >= _MIN_RSA_BITS
    curve = _CURVES.get(key.algorithm_name)
    return curve is not None and data.get("crv") == curve


def _fitting(key: jwt.PyJWK, algorithm: str) -> jwt.PyJWK:
    """Refuses a key whose algorithm is not the token's: a key has one algorithm, and the token can't choose another."""
    if key.algorithm_name != algorithm:
        raise errors.bad_key()
    return key


def _check_safe(url: str) -> None:
    parts = urlsplit(url)
    name = parts.hostname or ""
    if not name or not (parts.scheme == "https" or (parts.scheme == "http" and is_loopback(name))):
        raise InvalidInput(
            "auth.bad_issuer",
            f"invalid issuer address {url[:200]!r}",
            why="without TLS, its keys could be anyone's",
            fix="use https://…",
        )


def _allowed(algorithms: tuple[str, ...]) -> tuple[str, ...]:
    if not algorithms or set(algorithms) - set(ALGORITHMS):
        raise InvalidInput(
            "auth.bad_algorithm",
            f"unsupported algorithms: {', '.join(algorithms)}",
            fix=f"use some of {', '.join(ALGORITHMS)}",
        )
    return algorithms
