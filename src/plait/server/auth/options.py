"""Authentication settings of a server, from a program or from the environment."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from plait.kernel.errors import InvalidInput

from .sessions import LIFETIME

ALGORITHMS = ("RS256", "ES256", "EdDSA")
"""Accepted algorithms. None with a shared secret (HS256): there the public key would be enough to forge a token."""


class Oidc(msgspec.Struct, frozen=True):
    issuer: str
    audience: str
    """The audience that tokens must have: the name of this server at the issuer."""
    algorithms: tuple[str, ...] = ALGORITHMS


class AuthOptions(msgspec.Struct, frozen=True, kw_only=True):
    secret: str | None = None
    """The secret that signs sessions and links; None: the one stored in the database."""
    oidc: Oidc | None = None
    public_url: str = ""
    """The address that people use, in case a proxy changes `Host`."""
    session_seconds: int = LIFETIME
    wrong_keys: int = 100
    """Invalid keys allowed from one address before it gets 429; one more every second."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str], public_url: str = "") -> AuthOptions:
        """Reads PLAIT_SECRET, PLAIT_OIDC_ISSUER and PLAIT_OIDC_AUDIENCE."""
        issuer, audience = environment.get("PLAIT_OIDC_ISSUER", ""), environment.get("PLAIT_OIDC_AUDIENCE", "")
        if audience and not issuer:
            raise InvalidInput(
                "auth.bad_issuer", "PLAIT_OIDC_AUDIENCE is set without PLAIT_OIDC_ISSUER", fix="set both or neither"
            )
        return cls(
            secret=environment.get("PLAIT_SECRET") or None,
            oidc=Oidc(issuer, audience) if issuer else None,
            public_url=public_url,
        )
