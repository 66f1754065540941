"""Signed links for people and programs without a key: each works once, until it expires.

    minted = links.mint("hook", namespace, run_id, name="paid", expires_in=3600)
    link = await links.open(token, "hook")                       # GET: reads only
    answer = await links.spend(link, lambda: handle.message(link.name, body, id=link.id))

A use takes effect first and is marked second. A crash in between leaves the link open, and its next use repeats the
effect, which must be harmless: a message carries the link's id and is taken once, and a decided approval refuses a
second decision. So nothing is lost, and nothing is done twice.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from typing import Literal, TypeVar

import msgspec

from plait.api.caller import Caller
from plait.kernel import values
from plait.kernel.clock import Clock
from plait.kernel.errors import InvalidInput
from plait.kernel.ids import Millis
from plait.kernel.records import Record, Records, read_body

from . import errors
from .audit import Audit
from .expiry import delete_expired, expiring_id
from .signing import Signer

T = TypeVar("T")

LinkKind = Literal["hook", "approval", "result"]
LONGEST = 90 * 86_400
DEFAULT = 86_400
"""Seconds until a link expires."""

_KIND = "auth.link_used"
_KEPT_AFTER = 86_400_000
"""Milliseconds that a mark outlives its link: a day, because clocks of different machines disagree."""


class Link(msgspec.Struct, frozen=True, array_like=True):
    kind: LinkKind
    namespace: str
    target: str
    """The id of the run or the approval."""
    name: str
    """The message's name; for an approval, whose vote it is, or empty; for a result, the task and its attempt."""
    expires_at: Millis
    id: str

    @property
    def caller(self) -> Caller:
        """The caller to record in the audit log."""
        role = "approver" if self.kind == "approval" else "operator"
        return Caller(f"link {self.id}", role, self.namespace, "token", id=f"link:{self.id}")


class Minted(msgspec.Struct, frozen=True):
    token: str
    link: Link


class LinkMaker:
    """Makes links; needs no store."""

    def __init__(self, clock: Clock, secret: bytes) -> None:
        self._clock = clock
        self._signers: dict[LinkKind, Signer] = {
            "hook": Signer(secret, "link.hook"),
            "approval": Signer(secret, "link.approval"),
            "result": Signer(secret, "link.result"),
        }

    def mint(
        self, kind: LinkKind, namespace: str, target: str, *, name: str = "", expires_in: float = DEFAULT
    ) -> Minted:
        if not 1 <= expires_in <= LONGEST:
            raise InvalidInput(
                "auth.bad_expiry", f"invalid lifetime: {expires_in} seconds", fix=f"use 1 to {LONGEST:,} seconds"
            )
        expires_at = Millis(self._clock.now() + round(expires_in * 1000))
        link = Link(kind, namespace, target, name, expires_at, secrets.token_hex(16))
        return Minted(self._signers[kind].sign(msgspec.json.encode(link)), link)


class Links(LinkMaker):
    def __init__(self, records: Records, clock: Clock, secret: bytes, audit: Audit) -> None:
        super().__init__(clock, secret)
        self._records = records
        self._audit = audit

    async def open(self, token: str, kind: LinkKind) -> Link:
        """Reads a link. Raises `auth.bad_link`, `auth.link_expired` or `auth.link_used`; changes nothing."""
        payload = self._signers[kind].verify(token)
        if payload is None:
            raise errors.bad_link()
        link = msgspec.json.decode(payload, type=Link)
        if link.expires_at <= self._clock.now():
            raise errors.link_expired()
        if await self._records.get(_KIND, link.namespace, _mark(link)) is not None:
            raise errors.link_used()
        return link

    async def spend(self, link: Link, use: Callable[[], Awaitable[T]]) -> T:
        """Calls `use`, and marks the link used. Of several concurrent uses one succeeds.
        If `use` raises, the link stays usable."""
        done = await use()
        now = self._clock.now()
        await delete_expired(self._records, _KIND, now)
        first = await self._mark_used(link, now)
        if not first:
            raise errors.link_used()
        await self._audit.record(link.caller, f"link.{link.kind}", link.target, "ok")
        return done

    async def _mark_used(self, link: Link, now: Millis) -> bool:
        """Whether this use counts. The store may report an existing mark because the response to our own write was
        lost, so each use writes a mark that it can recognize."""
        use = secrets.token_hex(8)
        mark = Record(_KIND, link.namespace, _mark(link), values.encode(use), now)
        if await self._records.add(mark):
            return True
        kept = await self._records.get(mark.kind, mark.namespace, mark.id)
        return kept is not None and read_body(kept, str) == use


def _mark(link: Link) -> str:
    return expiring_id(link.expires_at + _KEPT_AFTER, link.id)
