"""Errors for refused credentials.

Each text is written once: two refusals that an attacker must not tell apart are the same call.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from plait.api.caller import Caller, Role
from plait.kernel.errors import Busy, NotFound, Unavailable
from plait.server.errors import Forbidden, Gone, Unauthorized
from plait.server.nouns import LINK


class Unauthenticated(Unauthorized):
    """There is no key, token or session."""

    caller: Caller | None = None
    """An unknown caller, for the audit log."""


class InvalidCredential(Unauthenticated):
    """There is a key, token or session, but it is not valid."""

    headers: Mapping[str, str] = {"www-authenticate": 'Bearer realm="plait", error="invalid_token"'}


class SlowDown(Busy):
    """Too many invalid keys from one address."""

    caller: Caller | None = None

    def __init__(self, seconds: float) -> None:
        super().__init__("auth.slow_down", "too many invalid keys from your address", fix="use a valid key, or wait")
        self.headers = {"retry-after": str(max(1, math.ceil(seconds)))}


class IssuerUnavailable(Unavailable):
    """The token issuer does not respond, and the token's key is not among those it published before."""

    headers: Mapping[str, str] = {"retry-after": "10"}

    def __init__(self) -> None:
        super().__init__(
            "auth.issuer_away",
            "the token can't be verified right now",
            why="its issuer does not respond",
            fix="retry soon, or use an API key",
        )


def no_key() -> Unauthenticated:
    return Unauthenticated(
        "auth.no_key",
        "API key required",
        fix="send `Authorization: Bearer <key>`; `plait keys create` creates one",
    )


def bad_key() -> InvalidCredential:
    """The key is unknown, malformed, revoked or forged; the answer does not tell which."""
    return InvalidCredential(
        "auth.bad_key",
        "invalid API key",
        why="the key or token is unknown, revoked or malformed",
        fix="ask an administrator for a new one",
    )


def expired() -> InvalidCredential:
    """The key has expired; only callers who proved that they hold the whole secret learn this."""
    return InvalidCredential(
        "auth.expired", "the key, token or session has expired", fix="sign in again, or get a new key"
    )


_FORBIDDEN: Mapping[Role, str] = {"agent": "AFL_FORBIDDEN"}
"""Codes by role, where it is not the usual one: agents expect the codes of their own language."""


def forbidden(caller: Caller, needed: str) -> Forbidden:
    return Forbidden(
        _FORBIDDEN.get(caller.role, "auth.forbidden"),
        f"the role {caller.role} is not allowed to do this",
        why=f"it requires the role {needed}",
        fix="use a key with that role",
        caller=caller,
    )


def no_role(claim: str) -> Forbidden:
    return Forbidden(
        "auth.forbidden",
        "the token grants no access here",
        why=f"its claim `{claim}` is missing or invalid",
        fix=f"make the issuer add `{claim}` to its tokens; see docs/guides/security.md",
    )


def cross_site(why: str, caller: Caller | None = None) -> Forbidden:
    return Forbidden(
        "auth.cross_site",
        "the request does not come from Plait's own pages",
        why=why,
        fix="reload the page and try again",
        caller=caller,
    )


def bad_link() -> NotFound:
    """The link is forged, truncated or made for another purpose; the answer does not tell which."""
    return LINK.missing("")


def link_expired() -> Gone:
    return Gone("auth.link_expired", "this link has expired", fix="ask for a new one")


def link_used() -> Gone:
    return Gone("auth.link_used", "this link was already used", why="it works once", fix="ask for a new one")
