"""The audit trail: who did what, when, and whether it was allowed. Durable before the answer is sent.

What was done is always written. Refusals are written up to a rate, so that a flood of bad keys can't fill the disk;
the next entry then says how many are missing before it. No secret gets in: what looks like one is blacked out.
"""

from __future__ import annotations

import re
import secrets

import msgspec

from plait.kernel import values
from plait.kernel.clock import Clock
from plait.kernel.ids import Millis
from plait.kernel.records import Record, Records
from plait.server.caller import EVERYWHERE, Caller, Outcome, Role

from .allowance import Allowance
from .signing import PREFIX

_KIND, _NOWHERE = "auth.audit", ""
_LONGEST = 300
_SECRETS = re.compile(
    r"plait_[0-9a-f]{18}_[A-Za-z0-9_-]+"  # keys
    r"|eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*"  # tokens
    rf"|{re.escape(PREFIX)}[A-Za-z0-9_-]+"  # links, sessions
)


class Entry(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    id: str
    at: Millis
    who: str
    role: Role | None = None
    """None: nobody knows who it was."""
    namespace: str
    action: str
    target: str | None = None
    outcome: Outcome
    code: str | None = None
    credential: str = ""
    """Which key, token or link: names may be given twice."""
    address: str = ""
    missed: int = 0
    """Refusals before this one that were not written."""


class Page(msgspec.Struct, frozen=True, omit_defaults=True):
    entries: list[Entry]
    next: str | None = None


class Audit:
    def __init__(self, records: Records, clock: Clock) -> None:
        self._records = records
        self._clock = clock
        self._process = secrets.token_hex(4)
        self._newest = 0
        self._count = 0
        # All strangers share one bucket: an attacker has many addresses. At most 17,000 entries a day.
        self._strangers = Allowance(clock, burst=100, per_second=0.2, most=1)
        self._callers = Allowance(clock, burst=200, per_second=1)
        self._missed = 0

    async def record(
        self,
        caller: Caller,
        action: str,
        target: str | None,
        outcome: Outcome,
        code: str | None = None,
        namespace: str | None = None,
    ) -> None:
        """Keeps an entry; durable when this returns. `namespace`: what a caller of all namespaces was busy in."""
        if outcome == "refused" and not self._room(caller):
            self._missed += 1
            return
        missed, self._missed = self._missed, 0
        entry = self._entry(caller, action, target, outcome, code, namespace, missed)
        place = _NOWHERE if entry.namespace == EVERYWHERE else entry.namespace
        try:
            await self._records.put(Record(_KIND, place, entry.id, values.encode(entry), entry.at))
        except BaseException:
            self._missed += missed + 1
            raise

    async def page(self, namespace: str | None = None, cursor: str | None = None, limit: int = 100) -> Page:
        """Newest first; of one namespace, or of all."""
        place = None if namespace in (None, EVERYWHERE) else namespace
        found = await self._records.list(_KIND, place, after=cursor, limit=limit + 1, newest_first=True)
        entries = [values.decode(record.body, Entry) for record in found[:limit]]
        return Page(entries, entries[-1].id if len(found) > limit else None)

    def _next_id(self, now: Millis) -> str:
        """In order within a process, even within a millisecond and when the clock is set back; unique among all."""
        self._newest = max(self._newest, now)
        self._count += 1
        return f"{self._newest:012x}-{self._count:08x}-{self._process}"

    def _room(self, caller: Caller) -> bool:
        id = getattr(caller, "id", "")
        wait = self._callers.take(id) if id else self._strangers.take("")
        return not wait

    def _entry(
        self,
        caller: Caller,
        action: str,
        target: str | None,
        outcome: Outcome,
        code: str | None,
        namespace: str | None,
        missed: int,
    ) -> Entry:
        now = self._clock.now()
        known = caller.mode != "open" or caller.role == "admin"
        # A caller of one namespace is written there, whatever he asked for: he can't fill the trail of another.
        own = caller.namespace
        return Entry(
            id=self._next_id(now),
            at=now,
            who=_clean(caller.name) or "",
            role=caller.role if known else None,
            namespace=(namespace or own) if own == EVERYWHERE else own,
            action=action,
            target=_clean(target),
            outcome=outcome,
            code=code,
            credential=getattr(caller, "id", ""),
            address=getattr(caller, "address", ""),
            missed=missed,
        )


def _clean(text: str | None) -> str | None:
    """Fit for every store, of bounded length, without secrets."""
    if text is None:
        return None
    shown = _SECRETS.sub("[secret]", text.replace("\0", "").encode("utf-8", "replace").decode())
    return shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1] + "…"
