"""Bearer tokens (JWT) of an OIDC issuer: `plait_role` and `plait_namespace` say what their holder may do."""

from __future__ import annotations

from typing import Any, cast

import jwt
import msgspec

from plait.kernel import values
from plait.kernel.clock import Clock
from plait.kernel.errors import InvalidInput
from plait.kernel.ids import run_key
from plait.server.caller import EVERYWHERE

from . import errors
from .issuer import ALGORITHMS, Issuer
from .keys import ROLES
from .known import Known
from .signing import exact_bytes

ROLE_CLAIM = "plait_role"
NAMESPACE_CLAIM = "plait_namespace"

_LONGEST = 16_384
_LEEWAY = 30
"""Seconds that the issuer's clock and ours may differ."""


class Oidc(msgspec.Struct, frozen=True):
    issuer: str
    audience: str
    """Who the tokens must be for: the name of this server at the issuer."""
    algorithms: tuple[str, ...] = ALGORITHMS


class Tokens:
    def __init__(self, oidc: Oidc, clock: Clock) -> None:
        if not oidc.audience:
            raise InvalidInput(
                "auth.no_audience",
                "OIDC is set up without an audience",
                why="a token for any other service of the issuer would be good here",
                fix="set PLAIT_OIDC_AUDIENCE to the name of this server at the issuer",
            )
        self._oidc = oidc
        self._issuer = Issuer(oidc.issuer, clock, oidc.algorithms)

    async def verify(self, text: str, address: str = "") -> Known:
        """Who holds the token. Raises 401, 403 for a good token without rights, 503 while the issuer is away."""
        kid, algorithm = _header(text)
        key = await self._issuer.key(kid, algorithm)
        return _caller(self._claims(text, key), address)

    async def close(self) -> None:
        await self._issuer.close()

    def _claims(self, text: str, key: jwt.PyJWK) -> dict[str, Any]:
        try:
            return jwt.decode(
                text,
                key,
                algorithms=[key.algorithm_name],
                audience=self._oidc.audience,
                issuer=self._oidc.issuer,
                leeway=_LEEWAY,
                options={"require": ["exp", "iat", "iss", "aud", "sub"]},
            )
        except jwt.ExpiredSignatureError:
            raise errors.expired() from None
        except (jwt.PyJWTError, ValueError, TypeError):
            raise errors.bad_key() from None


def _header(text: str) -> tuple[str, str]:
    """Which key and algorithm a token claims; nothing of it is believed yet."""
    if len(text) > _LONGEST or exact_bytes(text.rpartition(".")[2]) is None:
        raise errors.bad_key()
    try:
        header = jwt.get_unverified_header(text)
    except (jwt.PyJWTError, ValueError):
        raise errors.bad_key() from None
    kid, algorithm = header.get("kid", ""), header.get("alg")
    # `crit` names rules a reader must know; we know none
    if not isinstance(kid, str) or not isinstance(algorithm, str) or "crit" in header:
        raise errors.bad_key()
    return kid, algorithm


def _caller(claims: dict[str, Any], address: str) -> Known:
    role, namespace = claims.get(ROLE_CLAIM), claims.get(NAMESPACE_CLAIM)
    if role not in ROLES:
        raise errors.no_role(ROLE_CLAIM)
    if not _is_namespace(namespace):
        raise errors.no_role(NAMESPACE_CLAIM)
    subject = str(claims["sub"])
    name = next(
        (n for n in (claims.get("email"), claims.get("preferred_username")) if isinstance(n, str) and n), subject
    )
    return Known(_short(name), role, cast(str, namespace), "token", f"token:{_short(subject)}", address)


def _is_namespace(value: object) -> bool:
    if value == EVERYWHERE:
        return True
    try:
        run_key(cast(str, value), "x")
    except InvalidInput:
        return False
    return True


def _short(text: str) -> str:
    try:
        return values.text("a name", text[:200])
    except InvalidInput:
        raise errors.bad_key() from None
