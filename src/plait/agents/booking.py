"""What is reserved for one call, in all budgets that it counts in."""

from __future__ import annotations

from plait.kernel.ids import RunId
from plait.kernel.task_inputs import AgentBudget, AgentInput

from .budgets import Claim, Limited, Reservation
from .daily_budget import DailyReservation
from .failure import AgentFailure
from .model import ModelRequest
from .services import AgentServices
from .tokens import tokens_of


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


class Bookings:
    """Of one attempt: its node, its run, and its namespace today."""

    def __init__(
        self, wanted: AgentInput, run_id: RunId, namespace: str, services: AgentServices, of_day: AgentBudget
    ) -> None:
        self._wanted = wanted
        self._run_id = run_id
        self._namespace = namespace
        self._services = services
        self._of_day = of_day

    def check_price(self) -> None:
        """A limit on what nobody can add up is none. Raises `AgentFailure`."""
        model = self._wanted.model
        limited = any(each.budget.max_cost_usd is not None for each in self._limited())
        if limited and self._services.prices.of(model) is None:
            text = f"there is a budget in USD, but the price of model `{model}` is not known"
            raise AgentFailure("agent.unpriced_model", text, retryable=False)

    async def reserve(self, request: ModelRequest) -> Booking:
        """Raises `AgentFailure` if the call could exceed one of them."""
        services, claim = self._services, self._claim(request)
        own = await services.budgets.reserve(claim, self._limited())
        try:
            day = None
            if services.daily is not None:
                day = await services.daily.reserve(self._namespace, self._of_day, claim)
        except BaseException:
            own.release()
            raise
        return Booking(own, day)

    def _claim(self, request: ModelRequest) -> Claim:
        size = tokens_of(request)
        price = self._services.prices.of(self._wanted.model)
        return Claim(size + request.max_tokens, None if price is None else price.most(size, request.max_tokens))

    def _limited(self) -> tuple[Limited, ...]:
        run_id, wanted, services = self._run_id, self._wanted, self._services
        found = (
            Limited(
                "node",
                f"node/{run_id}/{wanted.execution}",
                wanted.budget,
                lambda: services.spent_in(run_id, wanted.execution),
            ),
            Limited("run", f"run/{run_id}", wanted.run_budget, lambda: services.spent_in(run_id, None)),
        )
        return tuple(
            each for each in found if each.budget.max_tokens is not None or each.budget.max_cost_usd is not None
        )
