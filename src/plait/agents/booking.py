"""What is reserved for one call, in all budgets that it counts in."""

from __future__ import annotations

from .budgets import Reservation
from .daily_budget import DailyReservation


class Booking:
    def __init__(self, own: Reservation, day: DailyReservation | None) -> None:
        self._own = own
        self._day = day

    async def book(self, tokens: int, cost_usd: float | None) -> None:
        self._own.book(tokens, cost_usd)
        if self._day is not None:
            await self._day.book(tokens, cost_usd)

    async def release(self) -> None:
        """The call gave nothing."""
        self._own.release()
        if self._day is not None:
            await self._day.book(0, 0.0)
