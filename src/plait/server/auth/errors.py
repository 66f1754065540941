"""The refusals of the door.

The texts stand here once: two refusals that must look alike to an attacker are the same call.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from plait.kernel.errors import Busy, NotFound, Unavailable
from plait.server.caller import Caller
from plait.server.errors import Forbidden, Gone, Unauthorized
from plait.server.missing import missing


class NotKnown(Unauthorized):
    """There is no key, token or session."""

    caller: Caller | None = None
    """A stranger, for the audit trail."""


class NotGood(NotKnown):
    """There is a key, token or session, and it is not good."""

    headers: Mapping[str, str] = {"www-authenticate": 'Bearer realm="plait", error="invalid_token"'}


class SlowDown(Busy):
    """Too many wrong keys from one place."""

    caller: Caller | None = None

    def __init__(self, seconds: float) -> None:
        super().__init__("auth.slow_down", "too many wrong keys came from your address", fix="use a good key, or wait")
        self.headers = {"retry-after": str(max(1, math.ceil(seconds)))}


class IssuerAway(Unavailable):
    """The issuer of tokens does not answer, and the token's key is not among those it gave before."""

    headers: Mapping[str, str] = {"retry-after": "10"}

    def __init__(self) -> None:
        super().__init__(
            "auth.issuer_away",
            "the token can't be checked now",
            why="its issuer does not answer",
            fix="try again soon, or use an API key",
        )


def no_key() -> NotKnown:
    return NotKnown(
        "auth.no_key",
        "this needs a key",
        fix="send `Authorization: Bearer <key>`; `plait keys create` makes one",
    )


def bad_key() -> NotGood:
    """Unknown, malformed, revoked, forged: nobody is told which."""
    return NotGood(
        "auth.bad_key",
        "this key or token is not good",
        why="it is unknown, revoked or damaged",
        fix="ask an administrator for a new one",
    )


def expired() -> NotGood:
    """Told only to those who have proved that they hold the whole secret."""
    return NotGood("auth.expired", "this key, token or session has expired", fix="sign in again, or get a new key")


def forbidden(caller: Caller, needs: str) -> Forbidden:
    return Forbidden(
        "auth.forbidden",
        f"the role {caller.role} may not do this",
        why=f"it needs the role {needs}",
        fix="use a key that has it",
        caller=caller,
    )


def no_role(claim: str) -> Forbidden:
    return Forbidden(
        "auth.forbidden",
        "this token gives no rights here",
        why=f"its claim `{claim}` is missing or can't be used",
        fix=f"let the issuer add `{claim}` to its tokens; docs/guides/security.md says how",
    )


def cross_site(why: str, caller: Caller | None = None) -> Forbidden:
    return Forbidden(
        "auth.cross_site",
        "this request does not come from Plait's own pages",
        why=why,
        fix="load the page anew and try again",
        caller=caller,
    )


def bad_link() -> NotFound:
    """Forged, cut off or made for something else: nobody is told which."""
    return missing("link", "")


def link_expired() -> Gone:
    return Gone("auth.link_expired", "the time of this link is over", fix="ask for a new one")


def link_used() -> Gone:
    return Gone("auth.link_used", "this link was used already", why="it is good for one use", fix="ask for a new one")
