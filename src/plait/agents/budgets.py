"""Token and cost budgets of a node and of a run.

The most that a call may use is reserved before the call, and its actual use is booked after it, so any number of
concurrent agents stay within a budget. What was spent before this process started, and by other processes since, is
read from its records before each call.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Final, Literal

import msgspec

from plait.kernel.task_inputs import AgentBudget

from .failure import AgentFailure

_KEPT: Final = 10_000
"""Accounts in memory; the least recently used are evicted and read again when needed."""

Level = Literal["node", "run", "namespace"]


class Spent(msgspec.Struct, omit_defaults=True):
    """Mutable, because it is a running account."""

    tokens: int = 0
    cost_usd: float | None = 0.0
    """None if the price of any call was unknown."""

    def add(self, tokens: int, cost_usd: float | None) -> None:
        self.tokens += tokens
        self.cost_usd = None if self.cost_usd is None or cost_usd is None else self.cost_usd + cost_usd

    def raise_to(self, other: Spent) -> None:
        """Raises to the other totals where they are higher. Never lowers: what was booked here may not be recorded
        yet."""
        self.tokens = max(self.tokens, other.tokens)
        unknown = self.cost_usd is None or other.cost_usd is None
        self.cost_usd = None if unknown else max(self.cost_usd or 0.0, other.cost_usd or 0.0)


class Account(msgspec.Struct):
    spent: Spent
    reserved: Spent


class Claim(msgspec.Struct, frozen=True):
    """The most that a call may use."""

    tokens: int
    cost_usd: float | None


async def _nothing() -> Spent:
    return Spent()


class Limited(msgspec.Struct, frozen=True):
    """An account, its limits, and how to read its past spending."""

    level: Level
    name: str
    budget: AgentBudget
    past: Callable[[], Awaitable[Spent]] = _nothing


class Budgets:
    def __init__(self) -> None:
        self._accounts: OrderedDict[str, Account] = OrderedDict()

    async def reserve(self, claim: Claim, limited: tuple[Limited, ...]) -> Reservation:
        """Raises `AgentFailure` if any budget would be exceeded; then nothing is reserved."""
        accounts = [(each, await self._account(each)) for each in limited]
        for each, account in accounts:
            check(each, account, claim)
        for _, account in accounts:
            account.reserved.add(claim.tokens, claim.cost_usd or 0.0)
        return Reservation(claim, [account for _, account in accounts])

    async def _account(self, limited: Limited) -> Account:
        past = await limited.past()
        found = self._accounts.setdefault(limited.name, Account(Spent(), Spent()))
        found.spent.raise_to(past)
        self._accounts.move_to_end(limited.name)
        while len(self._accounts) > _KEPT:
            self._accounts.popitem(last=False)
        return found


class Reservation:
    def __init__(self, claim: Claim, accounts: list[Account]) -> None:
        self._claim = claim
        self._accounts = accounts

    def book(self, tokens: int, cost_usd: float | None) -> None:
        """Books the actual use of a call that was made."""
        for account in self._accounts:
            account.spent.add(tokens, cost_usd)
        self.release()

    def release(self) -> None:
        for account in self._accounts:
            account.reserved.add(-self._claim.tokens, -(self._claim.cost_usd or 0.0))
        self._accounts = []


def check(limited: Limited, account: Account, claim: Claim) -> None:
    """Raises `AgentFailure` if the claim could exceed the budget."""
    budget, spent, reserved = limited.budget, account.spent, account.reserved
    if budget.max_tokens is not None:
        wanted = spent.tokens + reserved.tokens + claim.tokens
        if wanted > budget.max_tokens:
            raise _exceeded(limited.level, f"{wanted:,} of {budget.max_tokens:,} tokens")
    if budget.max_cost_usd is not None:
        if claim.cost_usd is None or spent.cost_usd is None:
            raise _exceeded(limited.level, "a price is not known, so the cost can't be limited")
        cost = math.fsum((spent.cost_usd, reserved.cost_usd or 0.0, claim.cost_usd))
        if cost > budget.max_cost_usd * (1 + 1e-12):
            raise _exceeded(limited.level, f"{cost:.6g} of {budget.max_cost_usd:g} USD")


def _exceeded(level: Level, what: str) -> AgentFailure:
    of = {"node": "the node", "run": "the run", "namespace": "the namespace for today"}[level]
    text = f"the next call could exceed the budget of {of}: {what}"
    return AgentFailure("agent.budget_exceeded", text, retryable=False)
