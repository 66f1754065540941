"""Bearer tokens (JWT) of an OIDC issuer; the claims `plait_role` and `plait_namespace` grant access, `plait_queues`
limits a worker's."""

from __future__ import annotations

from typing import Annotated, Any, cast

import jwt
import msgspec

from plait.api.caller import EVERYWHERE, ROLES, Caller
from plait.api.key import FacetPattern
from plait.api.task import QueueName
from plait.kernel import values
from plait.kernel.clock import Clock
from plait.kernel.errors import InvalidInput
from plait.kernel.ids import run_key

from . import errors
from .issuer import Issuer
from .options import Oidc
from .signing import exact_bytes

ROLE_CLAIM = "plait_role"
NAMESPACE_CLAIM = "plait_namespace"
QUEUES_CLAIM = "plait_queues"
FACETS_CLAIM = "plait_facets"

_MAX_LENGTH = 16_384
_LEEWAY = 30
"""Seconds by which the issuer's clock and ours may differ."""


class Tokens:
    def __init__(self, oidc: Oidc, clock: Clock) -> None:
        if not oidc.audience:
            raise InvalidInput(
                "auth.no_audience",
                "OIDC is configured without an audience",
                why="a token for any other service of the issuer would be valid here",
                fix="set PLAIT_OIDC_AUDIENCE to the name of this server at the issuer",
            )
        self._oidc = oidc
        self._issuer = Issuer(oidc.issuer, clock, oidc.algorithms)

    async def verify(self, text: str, address: str = "") -> Caller:
        """Returns the token's holder. Raises 401, 403 if it grants no access, 503 while the issuer is unavailable."""
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
    """Returns the key id and algorithm that a token claims, unverified."""
    if len(text) > _MAX_LENGTH or exact_bytes(text.rpartition(".")[2]) is None:
        raise errors.bad_key()
    try:
        header = jwt.get_unverified_header(text)
    except (jwt.PyJWTError, ValueError):
        raise errors.bad_key() from None
    kid, algorithm = header.get("kid", ""), header.get("alg")
    # `crit` names extensions a verifier must support; we support none
    if not isinstance(kid, str) or not isinstance(algorithm, str) or "crit" in header:
        raise errors.bad_key()
    return kid, algorithm


def _caller(claims: dict[str, Any], address: str) -> Caller:
    role, namespace = claims.get(ROLE_CLAIM), claims.get(NAMESPACE_CLAIM)
    if role not in ROLES:
        raise errors.no_role(ROLE_CLAIM)
    if not _is_namespace(namespace):
        raise errors.no_role(NAMESPACE_CLAIM)
    subject = str(claims["sub"])
    name = next(
        (n for n in (claims.get("email"), claims.get("preferred_username")) if isinstance(n, str) and n), subject
    )
    queues = _queues(claims[QUEUES_CLAIM]) if QUEUES_CLAIM in claims else None
    facets = _facets(claims[FACETS_CLAIM]) if FACETS_CLAIM in claims else None
    return Caller(
        _short(name),
        role,
        cast(str, namespace),
        "token",
        f"token:{_short(subject)}",
        address,
        queues,
        facets=facets,
    )


def _queues(claim: object) -> tuple[str, ...]:
    return _names(claim, QUEUES_CLAIM, QueueName)


def _facets(claim: object) -> tuple[str, ...]:
    return _names(claim, FACETS_CLAIM, FacetPattern)


def _names(claim: object, name: str, kind: Any) -> tuple[str, ...]:
    """Reads a list, or names separated by spaces as in scopes. A claim that can't be read allows nothing."""
    found = claim.split() if isinstance(claim, str) else claim
    try:
        return tuple(msgspec.convert(found, Annotated[list[kind], msgspec.Meta(min_length=1, max_length=100)]))
    except msgspec.ValidationError:
        raise errors.no_role(name) from None


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
