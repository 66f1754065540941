"""API keys: `plait_<id>_<secret>`.

Only a hash of the secret is kept. It is SHA-256 and not a slow hash on purpose: slow hashes protect secrets that
people choose, of which there are few enough to try them all. Ours have 192 random bits; no number of tries finds one,
and a request must not cost 50 ms of hashing. (docs/decisions/0009-fast-hashes-for-random-keys.md)

A key that was found good is trusted for `fresh.SECONDS`, so that a revocation reaches every process within that time.
What is remembered is named by the hash of the whole key: a wrong secret never finds it, and takes as long as an
unknown id does.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import re
import secrets
from collections.abc import AsyncIterator
from typing import get_args

import msgspec

from plait.kernel import values
from plait.kernel.clock import Clock
from plait.kernel.errors import InvalidInput, Unavailable
from plait.kernel.ids import DEFAULT_NAMESPACE, Millis, run_key
from plait.kernel.records import Record, Records
from plait.server.caller import EVERYWHERE, Role
from plait.server.missing import missing

from . import errors
from .ttl_cache import Fresh

ROLES: tuple[Role, ...] = get_args(Role)
USE_NOTED = Millis(10 * 60_000)
"""How much `last_used_at` may lag behind: one write a key and process in that time."""

_KIND, _USES, _NOWHERE = "auth.key", "auth.key_use", ""
_SHAPE = re.compile(r"plait_([0-9a-f]{18})_([A-Za-z0-9_-]{32})")
_LONGEST_LIFE = 10 * 366 * 86_400
_PAGE = 500


class Key(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What may be shown of a key."""

    id: str
    name: str
    role: Role
    namespace: str
    created_at: Millis
    expires_at: Millis | None = None
    revoked_at: Millis | None = None
    last_used_at: Millis | None = None


class _Kept(msgspec.Struct, frozen=True):
    """When a key was last used is kept apart: noting it must never undo a revocation that was written meanwhile."""

    key: Key
    digest: str


class Keys:
    def __init__(self, records: Records, clock: Clock) -> None:
        self._records = records
        self._clock = clock
        self._good = Fresh[_Kept](clock)
        self._by_id = Fresh[_Kept](clock)
        self._noted = Fresh[bool](clock, USE_NOTED / 1000)

    # -- administration ------------------------------------------------------------------------------------------

    async def create(
        self, name: str, role: str, namespace: str = DEFAULT_NAMESPACE, expires_in: float | None = None
    ) -> tuple[Key, str]:
        """A new key, and its text, which nobody can show again."""
        now = self._clock.now()
        key = Key(
            id=f"{now:012x}{secrets.token_hex(3)}",
            name=_name(name),
            role=_role(role),
            namespace=_namespace(namespace),
            created_at=now,
            expires_at=None if expires_in is None else Millis(now + _span(expires_in)),
        )
        secret = secrets.token_urlsafe(24)
        kept = _Kept(key, _digest(key.id, secret))
        if not await self._records.put(_record(kept), new=True):
            return await self.create(name, role, namespace, expires_in)
        return key, f"plait_{key.id}_{secret}"

    async def list(self, namespace: str | None = None) -> list[Key]:
        """Keys of one namespace or of all, newest first; revoked and expired ones, too."""
        uses = {record.id: record.at async for record in self._all(_USES)}
        found = [values.decode(record.body, _Kept).key async for record in self._all(_KIND)]
        return [
            msgspec.structs.replace(key, last_used_at=uses.get(key.id))
            for key in found
            if namespace in (None, EVERYWHERE, key.namespace)
        ]

    async def revoke(self, id: str, namespace: str | None = None) -> Key:
        """Ends a key and its sessions: at once here, in `fresh.SECONDS` in other processes."""
        kept = await self._look(id)
        if kept is None or namespace not in (None, EVERYWHERE, kept.key.namespace):
            raise missing("key", id)
        if kept.key.revoked_at is None:
            revoked = msgspec.structs.replace(kept.key, revoked_at=self._clock.now())
            kept = _Kept(revoked, kept.digest)
            await self._records.put(_record(kept))
        self._good.drop(kept.digest)
        self._by_id.drop(id)
        return kept.key

    # -- the door ------------------------------------------------------------------------------------------------

    async def verify(self, text: str) -> Key:
        """The key that a request came with. Raises `auth.bad_key`, or `auth.expired` to who has the right secret."""
        shape = _SHAPE.fullmatch(text)
        if shape is None:
            raise errors.bad_key()
        id, secret = shape.groups()
        digest = _digest(id, secret)
        kept = self._good.get(digest)
        if kept is None:
            kept = await self._look(id)
            same = hmac.compare_digest(digest, _NOBODYS if kept is None else kept.digest)
            if kept is None or not same:
                raise errors.bad_key()
            self._good.put(digest, kept)
        return await self._in_use(kept.key)

    async def current(self, id: str) -> Key:
        """The key of a session, if it is still good."""
        kept = self._by_id.get(id)
        if kept is None:
            if (kept := await self._look(id)) is None:
                raise errors.bad_key()
            self._by_id.put(id, kept)
        return await self._in_use(kept.key)

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
        with contextlib.suppress(Unavailable):  # a good key is good, whether or not this can be written
            await self._records.put(Record(_USES, _NOWHERE, id, values.encode(None), self._clock.now()))

    async def _look(self, id: str) -> _Kept | None:
        record = await self._records.get(_KIND, _NOWHERE, id)
        return None if record is None else values.decode(record.body, _Kept)

    async def _all(self, kind: str) -> AsyncIterator[Record]:
        after: str | None = None
        while page := await self._records.list(kind, after=after, limit=_PAGE, newest_first=True):
            for record in page:
                yield record
            after = page[-1].id


def _digest(id: str, secret: str) -> str:
    return hashlib.sha256(f"plait.key\0{id}\0{secret}".encode()).hexdigest()


_NOBODYS = _digest("", secrets.token_hex(32))
"""What the secret of an unknown key is compared with, so that it takes as long."""


def _record(kept: _Kept) -> Record:
    return Record(_KIND, _NOWHERE, kept.key.id, values.encode(kept), kept.key.created_at)


def _name(name: str) -> str:
    if not values.text("the key's name", name, max_length=100).strip():
        raise InvalidInput("auth.bad_key_name", "the key has no name", fix="name who or what will use it")
    return name


def _role(role: str) -> Role:
    if role not in ROLES:
        raise InvalidInput("auth.bad_role", f"there is no role {role[:40]!r}", fix=f"use one of {', '.join(ROLES)}")
    return role


def _namespace(namespace: str) -> str:
    if namespace != EVERYWHERE:
        run_key(namespace, "x")  # raises what is wrong with it
    return namespace


def _span(seconds: float) -> Millis:
    if not 0 < seconds <= _LONGEST_LIFE:
        raise InvalidInput("auth.bad_expiry", f"a life of {seconds} seconds", fix="use 1 second to 10 years")
    return Millis(max(1, round(seconds * 1000)))
