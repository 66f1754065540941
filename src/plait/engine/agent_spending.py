"""Agents' spending in runs, according to the logs: only the new events of each run are read."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from plait.agents.budgets import Spent
from plait.agents.spending import Spending
from plait.kernel.ids import RunId
from plait.kernel.loader import recorded
from plait.kernel.store import Store

_KEPT: Final = 1_000
"""Most runs in memory; the least recently used are read again from the start."""


class RunSpending:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._runs: OrderedDict[RunId, Spending] = OrderedDict()

    async def spent_in(self, run_id: RunId, execution: str | None) -> Spent:
        """The spending in a run, or in one execution of it."""
        found = self._runs.setdefault(run_id, Spending())
        self._runs.move_to_end(run_id)
        while len(self._runs) > _KEPT:
            self._runs.popitem(last=False)
        found.add(await recorded(self._store, run_id, found.seq))
        return found.spent(execution)
