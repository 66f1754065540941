"""The audit log: who did what, when, and whether it was allowed. Durable before the response is sent.

Successful changes are always recorded. Refusals are rate-limited, so that a flood of invalid keys can't fill the disk;
the next entry then tells how many were skipped before it. Anything that looks like a secret is redacted.
"""

from __future__ import annotations

import re
import secrets

from plait.api.audit import AUDIT, AuditEntry, AuditOutcome, AuditPage
from plait.api.caller import EVERYWHERE, Caller
from plait.kernel import values
from plait.kernel.clock import Clock
from plait.kernel.errors import Damaged
from plait.kernel.records import Record, Records, read_body

from .rate_limit import RateLimit
from .signing import PREFIX

_NOWHERE = ""
_LONGEST = 300
_SECRETS = re.compile(
    r"plait_[0-9a-f]{18}_[A-Za-z0-9_-]+"  # keys
    r"|eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*"  # tokens
    rf"|{re.escape(PREFIX)}[A-Za-z0-9_-]+"  # links, sessions
)


class Audit:
    def __init__(self, records: Records, clock: Clock) -> None:
        self._records = records
        self._clock = clock
        self._process = secrets.token_hex(4)
        self._newest = 0
        self._count = 0
        # All unknown callers share one bucket: an attacker has many addresses. At most 17,000 entries a day.
        self._unknown = RateLimit(clock, burst=100, per_second=0.2, most=1)
        self._callers = RateLimit(clock, burst=200, per_second=1)
        self._missed = 0

    async def record(
        self,
        caller: Caller,
        action: str,
        target: str | None,
        outcome: AuditOutcome,
        code: str | None = None,
        namespace: str | None = None,
    ) -> None:
        """Records an entry; durable when this returns. `namespace`: where a caller of all namespaces acted."""
        if outcome == "refused" and not self._room(caller):
            self._missed += 1
            return
        missed, self._missed = self._missed, 0
        entry = self._entry(caller, action, target, outcome, code, namespace, missed)
        place = _NOWHERE if entry.namespace == EVERYWHERE else entry.namespace
        try:
            await self._records.put(Record(AUDIT, place, entry.id, values.encode(entry), entry.at))
        except BaseException:
            self._missed += missed + 1
            raise

    async def page(self, namespace: str | None = None, cursor: str | None = None, limit: int = 100) -> AuditPage:
        """Lists entries, newest first, of one namespace or of all."""
        place = None if namespace in (None, EVERYWHERE) else namespace
        found = await self._records.list(AUDIT, place, after=cursor, limit=limit + 1, newest_first=True)
        entries = [_listed(record) for record in found[:limit]]
        return AuditPage(entries=entries, next=entries[-1].id if len(found) > limit else None)

    def _room(self, caller: Caller) -> bool:
        wait = self._callers.take(caller.id) if caller.id else self._unknown.take("")
        return not wait

    def _entry(
        self,
        caller: Caller,
        action: str,
        target: str | None,
        outcome: AuditOutcome,
        code: str | None,
        namespace: str | None,
        missed: int,
    ) -> AuditEntry:
        who, what = _clean(caller.name) or "", _clean(target)
        # In order within a process, even within a millisecond and when the clock is set back; unique among all
        now = self._clock.now()
        self._newest = max(self._newest, now)
        self._count += 1
        known = caller.mode != "open" or caller.role == "admin"
        # A caller of one namespace is recorded there, whatever the request named, so nobody can fill another's log.
        own = caller.namespace
        return AuditEntry(
            id=f"{self._newest:012x}-{self._count:08x}-{self._process}",
            at=now,
            who=who,
            role=caller.role if known else None,
            namespace=(namespace or own) if own == EVERYWHERE else own,
            action=action,
            target=what,
            outcome=outcome,
            code=code,
            credential=caller.id,
            address=caller.address,
            missed=missed,
        )


def _clean(text: str | None) -> str | None:
    """Returns a text that every store accepts, of bounded length, without secrets."""
    if text is None:
        return None
    shown = _SECRETS.sub("[secret]", text.replace("\0", "").encode("utf-8", "replace").decode())
    return shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1] + "…"


def _listed(record: Record) -> AuditEntry:
    """Reads an entry. A damaged one keeps its place in the list, with what is still known of it."""
    try:
        return read_body(record, AuditEntry)
    except Damaged as error:
        return AuditEntry(
            id=record.id,
            at=record.at,
            who="",
            namespace=record.namespace,
            action="damaged",
            outcome="refused",
            code=error.code,
        )
