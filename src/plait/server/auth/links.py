"""Signed links for people and programs that have no key: each is good for one use, and until its time.

    minted = links.mint("hook", namespace, run_id, name="paid", expires_in=3600)
    link = await links.open(token, "hook")                       # GET: shows, changes nothing
    answer = await links.spend(link, lambda: handle.message(link.name, body, id=link.id))

A use is done first and marked second. A crash between the two leaves the link open, and its next use does the same
thing again, which must then be harmless: a message carries the link's id and is taken once, a question that has its
answer refuses a second one. So nothing is lost, and nothing is done twice.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from typing import Literal, TypeVar

import msgspec

from plait.kernel import values
from plait.kernel.clock import Clock
from plait.kernel.errors import InvalidInput
from plait.kernel.ids import Millis
from plait.kernel.records import Record, Records

from . import errors
from .audit import Audit
from .known import Known
from .signing import Seal
from .sweeping import dated, sweep

T = TypeVar("T")

LinkKind = Literal["hook", "approval"]
LONGEST = 90 * 86_400
DEFAULT = 86_400
"""Seconds that a link is good for."""

_KIND = "auth.link_used"
_KEPT_AFTER = 86_400_000
"""A mark outlives its link by a day: clocks of different machines disagree."""


class Link(msgspec.Struct, frozen=True, array_like=True):
    kind: LinkKind
    namespace: str
    target: str
    """The run, or the question."""
    name: str
    """Of the message; empty for questions."""
    expires_at: Millis
    id: str

    @property
    def caller(self) -> Known:
        """Who uses it, for the audit trail."""
        role = "approver" if self.kind == "approval" else "operator"
        return Known(f"link {self.id}", role, self.namespace, "token", id=f"link:{self.id}")


class Minted(msgspec.Struct, frozen=True):
    token: str
    link: Link


class Links:
    def __init__(self, records: Records, clock: Clock, secret: bytes, audit: Audit) -> None:
        self._records = records
        self._clock = clock
        self._audit = audit
        self._seals: dict[LinkKind, Seal] = {
            "hook": Seal(secret, "link.hook"),
            "approval": Seal(secret, "link.approval"),
        }

    def mint(
        self, kind: LinkKind, namespace: str, target: str, *, name: str = "", expires_in: float = DEFAULT
    ) -> Minted:
        if not 1 <= expires_in <= LONGEST:
            raise InvalidInput(
                "auth.bad_expiry", f"a link for {expires_in} seconds", fix=f"use 1 to {LONGEST:,} seconds"
            )
        expires_at = Millis(self._clock.now() + round(expires_in * 1000))
        link = Link(kind, namespace, target, name, expires_at, secrets.token_hex(16))
        return Minted(self._seals[kind].close(msgspec.json.encode(link)), link)

    async def open(self, token: str, kind: LinkKind) -> Link:
        """What a link is for. Raises `auth.bad_link`, `auth.link_expired` or `auth.link_used`; changes nothing."""
        payload = self._seals[kind].open(token)
        if payload is None:
            raise errors.bad_link()
        link = msgspec.json.decode(payload, type=Link)
        if link.expires_at <= self._clock.now():
            raise errors.link_expired()
        if await self._records.get(_KIND, link.namespace, _mark(link)) is not None:
            raise errors.link_used()
        return link

    async def spend(self, link: Link, use: Callable[[], Awaitable[T]]) -> T:
        """Does what the link is for, and marks it used. Of several uses at once, one is told that it was first.
        If `use` raises, the link stays good."""
        done = await use()
        now = self._clock.now()
        await sweep(self._records, _KIND, now)
        first = await self._mark_used(link, now)
        if not first:
            raise errors.link_used()
        await self._audit.record(link.caller, f"link.{link.kind}", link.target, "ok")
        return done

    async def _mark_used(self, link: Link, now: Millis) -> bool:
        """Whether this use is the one that counts. The store may say that a mark is there because the answer to our
        own write got lost, so each use signs its mark."""
        use = secrets.token_hex(8)
        mark = Record(_KIND, link.namespace, _mark(link), values.encode(use), now)
        if await self._records.put(mark, new=True):
            return True
        kept = await self._records.get(mark.kind, mark.namespace, mark.id)
        return kept is not None and values.decode(kept.body, str) == use


def _mark(link: Link) -> str:
    return dated(link.expires_at + _KEPT_AFTER, link.id)
