"""Prices of model calls: USD per million tokens, by model.

No prices are built in: they change, differ by contract, and a wrong one is worse than none. A model without a price
costs `None`, which is not 0: sums that include it are unknown, and a cost budget on it is refused.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from plait.kernel.errors import InvalidInput

from .model import Usage

_MILLION: Final = 1_000_000


class Price(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """USD per million tokens."""

    input: float
    output: float
    cached: float | None = None
    """The price of input that the provider had cached; None: the same as other input."""

    def cost(self, usage: Usage) -> float:
        """In USD."""
        cached = min(usage.cached, usage.input)
        fresh = usage.input - cached
        of_cached = self.input if self.cached is None else self.cached
        return (fresh * self.input + cached * of_cached + usage.output * self.output) / _MILLION

    def most(self, input: int, output: int) -> float:
        """The most that a call may cost: nothing cached, and the whole output limit used."""
        return self.cost(Usage(input=input, output=output))


class Prices:
    """Prices by model name: the workflow's name for it, or the provider's."""

    def __init__(self, given: Mapping[str, Price | Mapping[str, Any]] | None = None) -> None:
        self._known = {name: read_price(name, price) for name, price in (given or {}).items()}

    @property
    def names(self) -> list[str]:
        return sorted(self._known)

    def of(self, *names: str) -> Price | None:
        """The price of the first of these names that has one."""
        return next((self._known[name] for name in names if name in self._known), None)

    def cost(self, usage: Usage, *names: str) -> float | None:
        """None if the price is unknown."""
        price = self.of(*names)
        return None if price is None else price.cost(usage)

    def merged(self, others: Prices) -> Prices:
        """Combines both; the other's prices win."""
        return Prices(self._known | others._known)


def total(costs: Iterable[float | None]) -> float | None:
    """None if any cost is unknown; 0 if there are none."""
    known = list(costs)
    return None if None in known else math.fsum(each for each in known if each is not None)


def read_price(name: str, given: Price | Mapping[str, Any]) -> Price:
    """Raises `InvalidInput`."""
    try:
        price = given if isinstance(given, Price) else msgspec.convert(dict(given), Price)
    except (msgspec.ValidationError, TypeError, ValueError) as error:
        raise _bad(name, str(error)) from None
    if not all(math.isfinite(each) and each >= 0 for each in (price.input, price.output, price.cached or 0.0)):
        raise _bad(name, "a price is a number from 0 on")
    return price


def _bad(name: str, why: str) -> InvalidInput:
    return InvalidInput(
        "agent.bad_price",
        f"the price of the model {name!r} can't be read",
        why=why,
        fix='give {"input": …, "output": …, "cached": …} in USD per million tokens',
    )
