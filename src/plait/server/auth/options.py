"""How a server's door is set up: by hand, or from the environment."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from plait.kernel.errors import InvalidInput

from .sessions import LIFE
from .tokens import Oidc


class AuthOptions(msgspec.Struct, frozen=True, kw_only=True):
    secret: str | None = None
    """Signs sessions and links; None: one that is kept in the database."""
    oidc: Oidc | None = None
    public_url: str = ""
    """Where people reach the server, if a proxy changes `Host`."""
    session_seconds: int = LIFE
    wrong_keys: int = 100
    """From one address, before it is told to slow down; one more every second."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str], public_url: str = "") -> AuthOptions:
        """PLAIT_SECRET, PLAIT_OIDC_ISSUER, PLAIT_OIDC_AUDIENCE."""
        issuer, audience = environment.get("PLAIT_OIDC_ISSUER", ""), environment.get("PLAIT_OIDC_AUDIENCE", "")
        if audience and not issuer:
            raise InvalidInput(
                "auth.bad_issuer", "PLAIT_OIDC_AUDIENCE is set without PLAIT_OIDC_ISSUER", fix="set both, or none"
            )
        return cls(
            secret=environment.get("PLAIT_SECRET") or None,
            oidc=Oidc(issuer, audience) if issuer else None,
            public_url=public_url,
        )
