"""API keys: `plait_<id>_<secret>`.

Only a hash of the secret is stored. It is SHA-256 and not a slow hash on purpose: slow hashes protect secrets that
people choose, of which there are few enough to try them all. Ours have 192 random bits and can't be guessed,
and a request must not cost 50 ms of hashing. (docs/decisions/0009-fast-hashes-for-random-keys.md)

A verified key is cached for `ttl_cache.SECONDS`, so that a revocation reaches every process within that time. The cache
is keyed by the hash of the whole key: an invalid secret never finds an entry, and takes as long as an unknown id does.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import logging
import re
import secrets
from collections.abc import AsyncIterator, Sequence

import msgspec

from plait.api.caller import EVERYWHERE, ROLES, Role
from plait.api.key import FACET_PATTERN, MOST_RUNNING, MOST_STARTS, Key
from plait.kernel import values
from plait.kernel.clock import Clock
from plait.kernel.errors import Damaged, InvalidInput, Unavailable
from plait.kernel.ids import DEFAULT_NAMESPACE, Millis, run_key
from plait.kernel.queued import QUEUE_RULE, is_queue
from plait.kernel.records import Record, Records, read_body
from plait.server.nouns import KEY

from . import errors
from .ttl_cache import TtlCache

log = logging.getLogger("plait.server")

USE_NOTED = Millis(10 * 60_000)
"""Milliseconds that `last_used_at` may lag behind: one write per key and process in that time."""

_KIND, _USES, _NOWHERE = "auth.key", "auth.key_use", ""
_SHAPE = re.compile(r"plait_([0-9a-f]{18})_([A-Za-z0-9_-]{32})")
_MAX_LIFETIME = 10 * 366 * 86_400
_PAGE = 500
_WHILE_AWAY = 3600.0
"""Seconds for which a verified key is accepted, on routes that need it, while the database is unavailable."""


class _Stored(msgspec.Struct, frozen=True):
    """A key's record. The time of last use is stored apart: writing it must never undo a concurrent revocation."""

    key: Key
    digest: str


class Keys:
    def __init__(self, records: Records, clock: Clock) -> None:
        self._records = records
        self._clock = clock
        self._verified = TtlCache[_Stored](clock)
        self._by_id = TtlCache[_Stored](clock)
        self._noted = TtlCache[bool](clock, USE_NOTED / 1000)

    # -- administration ------------------------------------------------------------------------------------------

    async def create(
        self,
        name: str,
        role: str,
        namespace: str = DEFAULT_NAMESPACE,
        expires_in: float | None = None,
        queues: Sequence[str] | None = None,
        *,
        facets: Sequence[str] | None = None,
        pii: bool = False,
        start_rate: int | None = None,
        max_running: int | None = None,
    ) -> tuple[Key, str]:
        """Creates a key; returns it and its text, which can't be shown again."""
        now = self._clock.now()
        key = Key(
            id=f"{now:012x}{secrets.token_hex(3)}",
            name=_name(name),
            role=_role(role),
            namespace=_namespace(namespace),
            created_at=now,
            expires_at=None if expires_in is None else Millis(now + _span(expires_in)),
            queues=None if queues is None else _queues(queues, role),
            facets=None if facets is None else _facets(facets, role),
            pii=pii,
            start_rate=_quota("start_rate", start_rate, MOST_STARTS),
            max_running=_quota("max_running", max_running, MOST_RUNNING),
        )
        secret = secrets.token_urlsafe(24)
        stored = _Stored(key, _digest(key.id, secret))
        if not await self._records.add(_record(stored)):
            return await self.create(
                name,
                role,
                namespace,
                expires_in,
                queues,
                facets=facets,
                pii=pii,
                start_rate=start_rate,
                max_running=max_running,
            )
        return key, f"plait_{key.id}_{secret}"

    async def list(self, namespace: str | None = None) -> list[Key]:
        """Lists keys of one namespace or of all, newest first, including revoked and expired ones."""
        uses = {record.id: record.at async for record in self._all(_USES)}
        found = [stored.key async for record in self._all(_KIND) if (stored := _listed(record)) is not None]
        return [
            msgspec.structs.replace(key, last_used_at=uses.get(key.id))
            for key in found
            if namespace in (None, EVERYWHERE, key.namespace)
        ]

    async def revoke(self, id: str, namespace: str | None = None) -> Key:
        """Revokes a key and ends its sessions: immediately here, within `ttl_cache.SECONDS` in other processes."""
        stored = await self._look(id)
        if stored is None or namespace not in (None, EVERYWHERE, stored.key.namespace):
            raise KEY.missing(id)
        if stored.key.revoked_at is None:
            revoked = msgspec.structs.replace(stored.key, revoked_at=self._clock.now())
            stored = _Stored(revoked, stored.digest)
            await self._records.put(_record(stored))
        self._verified.drop(stored.digest)
        self._by_id.drop(id)
        return stored.key

    # -- verification --------------------------------------------------------------------------------------------

    async def verify(self, text: str, *, while_away: bool = False) -> Key:
        """Returns the key of a request. Raises `auth.bad_key`, or `auth.expired` to a caller who has the right secret.
        With `while_away`, a key verified shortly before the database became unavailable is still accepted."""
        shape = _SHAPE.fullmatch(text)
        if shape is None:
            raise errors.bad_key()
        id, secret = shape.groups()
        digest = _digest(id, secret)
        stored = self._verified.get(digest)
        if stored is None:
            try:
                stored = await self._look(id)
            except Unavailable:
                if while_away and (stored := self._verified.stale(digest, _WHILE_AWAY)) is not None:
                    return stored.key
                raise
            same = hmac.compare_digest(digest, _UNKNOWN if stored is None else stored.digest)
            if stored is None or not same:
                raise errors.bad_key()
            self._verified.put(digest, stored)
        return await self._in_use(stored.key)

    async def current(self, id: str) -> Key:
        """Returns the key of a session, if it is still valid."""
        stored = self._by_id.get(id)
        if stored is None:
            if (stored := await self._look(id)) is None:
                raise errors.bad_key()
            self._by_id.put(id, stored)
        return await self._in_use(stored.key)

    async def _in_use(self, key: Key) -> Key:
        if key.revoked_at is not None:
            raise errors.bad_key()
        if key.expires_at is not None and key.expires_at <= self._clock.now():
            raise errors.expired()
        await self._note_use(key.id)
        return key

    async def _note_use(self, id: str) -> None:
        if self._noted.get(id):
            return
        self._noted.put(id, True)
        with contextlib.suppress(Unavailable):  # the key is valid, whether or not this can be written
            await self._records.put(Record(_USES, _NOWHERE, id, values.encode(None), self._clock.now()))

    async def _look(self, id: str) -> _Stored | None:
        record = await self._records.get(_KIND, _NOWHERE, id)
        return None if record is None else read_body(record, _Stored)

    async def _all(self, kind: str) -> AsyncIterator[Record]:
        after: str | None = None
        while page := await self._records.list(kind, after=after, limit=_PAGE, newest_first=True):
            for record in page:
                yield record
            after = page[-1].id


def _listed(record: Record) -> _Stored | None:
    """Reads a key's record. A damaged one grants nothing, and does not hide the others."""
    try:
        return read_body(record, _Stored)
    except Damaged as error:
        log.error("a key is left out of the list: %s", error)
        return None


def _digest(id: str, secret: str) -> str:
    return hashlib.sha256(f"plait.key\0{id}\0{secret}".encode()).hexdigest()


_UNKNOWN = _digest("", secrets.token_hex(32))
"""The digest to compare with for an unknown key, so that the check takes as long as for a known one."""


def _record(stored: _Stored) -> Record:
    return Record(_KIND, _NOWHERE, stored.key.id, values.encode(stored), stored.key.created_at)


def _name(name: str) -> str:
    if not values.text("the key's name", name, max_length=100).strip():
        raise InvalidInput(
            "auth.bad_key_name", "the key has no name", fix="name the person or program that will use it"
        )
    return name


def _role(role: str) -> Role:
    if role not in ROLES:
        raise InvalidInput("auth.bad_role", f"unknown role {role[:40]!r}", fix=f"use one of {', '.join(ROLES)}")
    return role


def _queues(queues: Sequence[str], role: str) -> list[str]:
    if role != "worker":
        raise InvalidInput(
            "auth.bad_queues", f"a key for queues has the role worker, not {role[:40]}", fix="leave the queues out"
        )
    for queue in queues:
        if not is_queue(queue):
            raise InvalidInput("auth.bad_queues", f"queue {queue[:40]!r}", fix=QUEUE_RULE)
    return list(dict.fromkeys(queues))


def _facets(facets: Sequence[str], role: str) -> list[str]:
    if role != "agent":
        raise InvalidInput(
            "auth.bad_facets", f"a key for facets has the role agent, not {role[:40]}", fix="leave the facets out"
        )
    for facet in facets:
        if not re.fullmatch(FACET_PATTERN, facet):
            raise InvalidInput("auth.bad_facets", f"facet {facet[:40]!r}", fix="use a name or a pattern: geo.*")
    return list(dict.fromkeys(facets))


def _quota(name: str, given: int | None, most: int) -> int | None:
    if given is not None and not 1 <= given <= most:
        raise InvalidInput("auth.bad_quota", f"{name}={given}", fix=f"use a whole number from 1 to {most:,}")
    return given


def _namespace(namespace: str) -> str:
    if namespace != EVERYWHERE:
        run_key(namespace, "x")  # raises if it is invalid
    return namespace


def _span(seconds: float) -> Millis:
    if not 0 < seconds <= _MAX_LIFETIME:
        raise InvalidInput("auth.bad_expiry", f"invalid lifetime: {seconds} seconds", fix="use 1 second to 10 years")
    return Millis(max(1, round(seconds * 1000)))
