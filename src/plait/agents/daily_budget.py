"""The daily budget of a namespace, shared by all engines.

Each process keeps a record of what it has spent and reserved. It writes that record before it adds up all of them, so
if two processes want the last of a budget at the same time, at most one gets it.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from msgspec import Raw

from plait.kernel import values
from plait.kernel.clock import Clock
from plait.kernel.records import Record, Records, read_body
from plait.kernel.task_inputs import AgentBudget

from .budgets import Account, Claim, Limited, Spent, check
from .record_kinds import SPENDING

_MOST: Final = 1_000
"""Processes per day that are added up."""


class DailyBudgets:
    def __init__(self, records: Records, clock: Clock, owner: str) -> None:
        self._records = records
        self._clock = clock
        self._owner = owner
        self._mine: dict[tuple[str, str], Spent] = {}

    async def reserve(self, namespace: str, budget: AgentBudget, claim: Claim) -> DailyReservation | None:
        """Raises `AgentFailure`. None if there is no limit."""
        if not budget.is_limited:
            return None
        day = datetime.fromtimestamp(self._clock.now() / 1000, UTC).date().isoformat()
        mine = self._mine.setdefault((day, namespace), Spent())
        for place in [place for place in self._mine if place[0] < day]:
            del self._mine[place]
        found = DailyReservation(self, namespace, day, claim)
        mine.add(claim.tokens, claim.cost_usd)
        try:
            await self.write(namespace, day)
            check(Limited("namespace", "", budget), Account(await self._others(namespace, day), Spent()), _all(mine))
        except BaseException:
            await found.book(0, 0.0)
            raise
        return found

    async def write(self, namespace: str, day: str) -> None:
        body = Raw(values.plain(self._mine.get((day, namespace), Spent())))
        await self._records.put(Record(SPENDING, namespace, f"{day}/{self._owner}", body, self._clock.now()))

    def adjust(self, namespace: str, day: str, tokens: int, cost_usd: float | None) -> None:
        if (mine := self._mine.get((day, namespace))) is not None:
            mine.add(tokens, cost_usd)

    async def _others(self, namespace: str, day: str) -> Spent:
        found = Spent()
        for record in await self._records.list(SPENDING, namespace, after=f"{day}/", limit=_MOST):
            if record.id.startswith(f"{day}/") and record.id != f"{day}/{self._owner}":
                spent = read_body(record, Spent)
                found.add(spent.tokens, spent.cost_usd)
        return found


class DailyReservation:
    def __init__(self, budgets: DailyBudgets, namespace: str, day: str, claim: Claim) -> None:
        self._budgets = budgets
        self._place = namespace, day
        self._claim = claim

    async def book(self, tokens: int, cost_usd: float | None) -> None:
        """Books the actual use of the call; 0 if it was not made."""
        back = None if self._claim.cost_usd is None or cost_usd is None else cost_usd - self._claim.cost_usd
        self._budgets.adjust(*self._place, tokens - self._claim.tokens, back)
        await self._budgets.write(*self._place)


def _all(mine: Spent) -> Claim:
    """What this process has spent and reserved."""
    return Claim(mine.tokens, mine.cost_usd)
