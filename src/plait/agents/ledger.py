"""Reserves what one model call may use, in all budgets that apply, and books its actual use."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

import msgspec

from plait.kernel.ids import RunId
from plait.kernel.task_inputs import AgentBudget, AgentInput

from .budgets import Budgets, Claim, Limited, Reservation, Spent
from .daily_budget import DailyBudgets, DailyReservation


class Spender(msgspec.Struct, frozen=True, kw_only=True):
    """The caller of a model, and the budgets that its calls count against."""

    run_id: RunId
    namespace: str
    execution: str
    node_budget: AgentBudget = AgentBudget()
    run_budget: AgentBudget = AgentBudget()
    day_budget: AgentBudget = AgentBudget()
    """The daily budget of the namespace."""

    @classmethod
    def of(cls, wanted: AgentInput, run_id: RunId, namespace: str, day_budget: AgentBudget) -> Spender:
        return cls(
            run_id=run_id,
            namespace=namespace,
            execution=wanted.execution,
            node_budget=wanted.budget,
            run_budget=wanted.run_budget,
            day_budget=day_budget,
        )


class Booking(Protocol):
    """A reservation for one call."""

    async def book(self, tokens: int, cost_usd: float | None) -> None: ...

    async def release(self) -> None:
        """Releases the reservation: the call had no result."""
        ...


class Ledger(Protocol):
    async def reserve(self, spender: Spender, claim: Claim) -> Booking:
        """Raises an `AgentFailure` if a budget would be exceeded."""
        ...


class EngineBooking:
    def __init__(self, own: Reservation, day: DailyReservation | None) -> None:
        self._own = own
        self._day = day

    async def book(self, tokens: int, cost_usd: float | None) -> None:
        self._own.book(tokens, cost_usd)
        if self._day is not None:
            await self._day.book(tokens, cost_usd)

    async def release(self) -> None:
        self._own.release()
        if self._day is not None:
            await self._day.book(0, 0.0)

    def lose(self) -> None:
        """The outcome of the call is unknown. It may be billed, so the day's budget keeps it."""
        self._own.release()


async def _nothing_spent(run_id: RunId, execution: str | None) -> Spent:
    return Spent()


class EngineLedger:
    """The ledger of one process, which takes into account what all processes have spent."""

    def __init__(
        self,
        spent_in: Callable[[RunId, str | None], Awaitable[Spent]] = _nothing_spent,
        daily: DailyBudgets | None = None,
    ) -> None:
        self._spent_in = spent_in
        self._daily = daily
        self._budgets = Budgets()

    async def reserve(self, spender: Spender, claim: Claim) -> EngineBooking:
        own = await self._budgets.reserve(claim, self._limited(spender))
        try:
            day = None
            if self._daily is not None:
                day = await self._daily.reserve(spender.namespace, spender.day_budget, claim)
        except BaseException:
            own.release()
            raise
        return EngineBooking(own, day)

    def _limited(self, spender: Spender) -> tuple[Limited, ...]:
        run_id, execution = spender.run_id, spender.execution
        found = (
            Limited(
                "node",
                f"node/{run_id}/{execution}",
                spender.node_budget,
                lambda: self._spent_in(run_id, execution),
            ),
            Limited("run", f"run/{run_id}", spender.run_budget, lambda: self._spent_in(run_id, None)),
        )
        return tuple(each for each in found if each.budget.is_limited)
