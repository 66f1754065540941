"""Which key the values of a run are sealed with: its subject's, or its namespace's.

Whose values a run holds is in its row, and never changes. It is remembered for the runs that were read or written last.
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
        """Only of a run that is on disk: another may have got the id."""
        self._scopes[row.id] = scope_of(row)
        if len(self._scopes) > _REMEMBERED:
            self._scopes.popitem(last=False)

    def forget(self, run_id: RunId) -> None:
        """It was removed: another run may get its id."""
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
        if row is None:  # what is sent to a run that is not there is the namespace's
            return Scope(namespace_of(run_id))
        self.remember(row)
        return self._scopes[run_id]


def scope_of(row: RunRow) -> Scope:
    return Scope(row.namespace, row.labels.get(SUBJECT))


def namespace_of(run_id: RunId) -> str:
    return run_id.rpartition("/")[0] or DEFAULT_NAMESPACE
