"""Reserves and books what an attempt spends around each model call, in all budgets that apply."""

from __future__ import annotations

from plait.kernel.ids import RunId
from plait.kernel.task_inputs import AgentBudget, AgentInput

from .budgets import Claim
from .failure import AgentFailure
from .ledger import Booking, Spender
from .model import ModelRequest
from .services import AgentServices
from .tokens import tokens_of


class Bookings:
    """Bookings of one attempt, against the budgets of its node, its run, and its namespace for today."""

    def __init__(
        self, wanted: AgentInput, run_id: RunId, namespace: str, services: AgentServices, of_day: AgentBudget
    ) -> None:
        self._wanted = wanted
        self._services = services
        self._spender = Spender.of(wanted, run_id, namespace, of_day)

    def check_price(self) -> None:
        """A cost limit without a known price would never take effect, so it is refused. Raises `AgentFailure`."""
        model, budgets = self._wanted.model, (self._spender.node_budget, self._spender.run_budget)
        limited = any(each.max_cost_usd is not None for each in budgets)
        if limited and self._services.prices.of(model) is None:
            text = f"there is a budget in USD, but the price of model `{model}` is not known"
            raise AgentFailure("agent.unpriced_model", text, retryable=False)

    async def reserve(self, request: ModelRequest) -> Booking:
        """Raises `AgentFailure` if the call could exceed one of the budgets."""
        return await self._services.ledger.reserve(self._spender, self._claim(request))

    def _claim(self, request: ModelRequest) -> Claim:
        size = tokens_of(request)
        price = self._services.prices.of(self._wanted.model)
        return Claim(size + request.max_tokens, None if price is None else price.most(size, request.max_tokens))
