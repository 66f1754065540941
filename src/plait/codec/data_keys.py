"""Data keys: created when first needed, unwrapped when first used, and then kept in memory."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator

from plait.kernel.clock import Clock
from plait.kernel.ids import Millis
from plait.kernel.store import RecordChange, Store

from . import errors
from .cipher import KEY_BYTES, DataKey, Unopenable, new_key_id
from .key_records import (
    KEY,
    STATE,
    KeyBody,
    ScopeBody,
    StateBody,
    body_of,
    change_notice,
    key_name,
    record,
    scope_name,
    write_of,
)
from .key_ring import KeyRing
from .scope import Scope

_MOST = 10_000
"""Maximum number of subjects' keys kept in memory."""
_CHECK = b"plait"
_PAGE = 500


class DataKeys:
    def __init__(self, ring: KeyRing, store: Store, clock: Clock) -> None:
        self._ring = ring
        self._store = store
        self._clock = clock
        self._by_id: dict[bytes, DataKey] = {}
        self._current: dict[Scope, DataKey] = {}
        self._destroyed: dict[bytes, Millis] = {}

    @property
    def master(self) -> str:
        return self._ring.current

    async def check_master(self) -> None:
        """Refuses a ring without the key of this database; turns on encryption for a database that is not encrypted
        yet."""
        found = await self._store.record(*STATE)
        if found is None:
            state = StateBody(self._ring.current, await self._ring.wrap(_CHECK, "state"))
            change = RecordChange(record(STATE, state, self._clock.now()), "new")
            await self._store.commit([write_of([change])])
            found = await self._store.record(*STATE)  # if two processes start together, one wins
            assert found is not None
        state = body_of(found, StateBody)
        await self._ring.unwrap(state.by, state.check, "state")

    # -- finding -------------------------------------------------------------------------------------------------

    def known(self, key_id: bytes) -> DataKey | None:
        return self._by_id.get(key_id)

    def known_current(self, scope: Scope) -> DataKey | None:
        return self._current.get(scope)

    async def find(self, key_id: bytes) -> DataKey:
        """Returns the key that something was sealed with. Raises `Erased`, or an error that the key is missing."""
        if (known := self._by_id.get(key_id)) is not None:
            return known
        if (at := self._destroyed.get(key_id)) is not None:
            raise errors.erased(at)
        found = await self._store.record(*key_name(key_id))
        if found is None:
            raise errors.no_data_key(key_id.hex())
        body = body_of(found, KeyBody)
        if body.erased_at is not None or body.wrapped is None:
            self._destroyed[key_id] = at = body.erased_at or found.at
            raise errors.erased(at)
        return self._keep(DataKey(key_id, await self._unwrapped(key_id, body, body.wrapped), body.scope))

    async def current(self, scope: Scope) -> DataKey:
        """Returns the key to seal with; creates one if there is none. Raises `Erased` for an erased subject."""
        if (known := self._current.get(scope)) is not None:
            return known
        found = await self._scope(scope)
        if found is not None and found.receipt is not None:
            raise errors.erased(found.receipt.at)
        if found is None:
            key = await self._add(scope, [])
            if key is None:  # another process was first
                return await self.current(scope)
        else:
            key = await self.find(bytes.fromhex(found.keys[-1]))
        self._current[scope] = key
        return key

    async def of_new_run(self, scope: Scope) -> DataKey:
        """Returns the key of a new run that is its own subject. An earlier run with this id may have been removed, and
        its key with it: so this bypasses the cache, and touches the key's record to keep a key due for deletion."""
        found = await self._store.record(*scope_name(scope))
        if found is None:
            key = await self._add(scope, [])
        else:
            body = body_of(found, ScopeBody)
            if body.receipt is not None:
                raise errors.erased(body.receipt.at)
            touch = RecordChange(record(scope_name(scope), body, self._clock.now()), expected=found.at)
            kept = await self._store.commit([write_of([touch])]) == ["ok"]
            key = await self.find(bytes.fromhex(body.keys[-1])) if kept else None
        if key is None:  # another process was first
            return await self.of_new_run(scope)
        self._current[scope] = key
        return key

    async def all(self) -> AsyncIterator[tuple[str, KeyBody]]:
        """Yields every data key, wrapped, by id."""
        after = None
        while page := await self._store.records(KEY, None, after, _PAGE):
            for found in page:
                yield found.id, body_of(found, KeyBody)
            after = page[-1].id

    # -- changing ------------------------------------------------------------------------------------------------

    async def rotate(self, namespace: str) -> DataKey:
        """Creates a new key for what is written from now on. Subjects that have a key keep it."""
        scope = Scope(namespace)
        found = await self._scope(scope)
        key = await self._add(scope, [] if found is None else found.keys)
        if key is None:
            return await self.rotate(namespace)
        self._current[scope] = key
        return key

    async def rewrap(self) -> int:
        """Wraps the keys of namespaces with the current master key; returns how many had another. Subjects' keys are
        wrapped by these and stay as they are, because rewrapping one could undo a concurrent erasure."""
        now, count = self._clock.now(), 0
        async for id, body in self.all():
            if body.subject is None and body.by != self._ring.current:
                key = await self.find(bytes.fromhex(id))
                await self._store.commit([write_of([await self._change(key, now, "put", body.created_at)])])
                count += 1
        if count:
            state = StateBody(self._ring.current, await self._ring.wrap(_CHECK, "state"))
            await self._store.commit([write_of([RecordChange(record(STATE, state, now), "put")])])
        return count

    def forget(self) -> None:
        """Drops the cached current keys and subjects' keys, because another process added or destroyed keys."""
        self._by_id = {id: key for id, key in self._by_id.items() if key.scope.subject is None}
        self._current.clear()

    async def _scope(self, scope: Scope) -> ScopeBody | None:
        found = await self._store.record(*scope_name(scope))
        return None if found is None else body_of(found, ScopeBody)

    async def _add(self, scope: Scope, older: list[str]) -> DataKey | None:
        """Creates a key, durable when this returns. None if the scope got its first one meanwhile."""
        now = self._clock.now()
        key = DataKey(new_key_id(), os.urandom(KEY_BYTES), scope)
        listed = record(scope_name(scope), ScopeBody([*older, key.name]), now)
        changes = [RecordChange(listed, "put" if older else "new"), await self._change(key, now, "new", now)]
        if older:
            changes.append(change_notice(now))
        if await self._store.commit([write_of(changes)]) != ["ok"]:
            return None
        return self._keep(key)

    async def _change(self, key: DataKey, now: Millis, how: str, created_at: Millis) -> RecordChange:
        scope = key.scope
        if scope.subject is None:
            by, wrapped = self._ring.current, await self._ring.wrap(key.secret, _context(key.id))
        else:
            above = await self.current(Scope(scope.namespace))
            by, wrapped = above.name, above.seal(_context(key.id), "wrapped", key.secret)
        body = KeyBody(scope.namespace, created_at, scope.subject, by, wrapped)
        return RecordChange(record(key_name(key.id), body, now), "put" if how == "put" else "new")

    async def _unwrapped(self, key_id: bytes, body: KeyBody, wrapped: bytes) -> bytes:
        if body.subject is None:
            return await self._ring.unwrap(body.by, wrapped, _context(key_id))
        above = await self.find(bytes.fromhex(body.by))
        try:
            return above.open(_context(key_id), "wrapped", wrapped)
        except Unopenable:
            raise errors.damaged(f"the data key {key_id.hex()}") from None

    def _keep(self, key: DataKey) -> DataKey:
        if len(self._by_id) >= _MOST:
            self.forget()
        self._by_id[key.id] = key
        return key


def _context(key_id: bytes) -> str:
    return f"key:{key_id.hex()}"
