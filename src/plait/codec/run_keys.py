"""Finds the key that seals the values of a run: its subject's, or its namespace's.

The run's row names the subject, which never changes. It is cached for the runs that were read or written last.
"""

from __future__ import annotations

from collections import OrderedDict

from plait.kernel.ids import DEFAULT_NAMESPACE, RunId
from plait.kernel.store import SUBJECT, RunRow, Store, own_subject

from .cipher import DataKey
from .data_keys import DataKeys
from .scope import Scope

_REMEMBERED = 10_000


class RunKeys:
    def __init__(self, keys: DataKeys, store: Store) -> None:
        self._keys = keys
        self._store = store
        self._scopes: OrderedDict[RunId, Scope] = OrderedDict()

    def remember(self, row: RunRow) -> None:
        """Caches the scope of a run; only of a stored run, because another run may have got the id."""
        self._scopes[row.id] = scope_of(row)
        if len(self._scopes) > _REMEMBERED:
            self._scopes.popitem(last=False)

    def forget(self, run_id: RunId) -> None:
        """Drops a removed run, because another run may get its id."""
        self._scopes.pop(run_id, None)

    async def of_row(self, row: RunRow) -> DataKey:
        return await self.of_scope(scope_of(row))

    async def of_new(self, row: RunRow) -> DataKey:
        if row.labels.get(SUBJECT) == own_subject(row.id):
            return await self._keys.of_new_run(scope_of(row))
        return await self.of_row(row)

    async def of(self, run_id: RunId) -> DataKey:
        scope = self._scopes.get(run_id)
        if scope is None:
            scope = await self._found(run_id)
        return await self.of_scope(scope)

    async def of_scope(self, scope: Scope) -> DataKey:
        return self._keys.known_current(scope) or await self._keys.current(scope)

    async def _found(self, run_id: RunId) -> Scope:
        row = await self._store.run(run_id)
        if row is None:  # what is sent to an unknown run uses the namespace's key
            return Scope(namespace_of(run_id))
        self.remember(row)
        return self._scopes[run_id]


def scope_of(row: RunRow) -> Scope:
    return Scope(row.namespace, row.labels.get(SUBJECT))


def namespace_of(run_id: RunId) -> str:
    return run_id.rpartition("/")[0] or DEFAULT_NAMESPACE
