from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.agents.model import Usage
from plait.agents.prices import Price, Prices, total
from plait.kernel.errors import InvalidInput

FAST = Price(input=1.0, output=5.0, cached=0.1)


def test_cached_tokens_are_part_of_the_input_and_have_their_own_price() -> None:
    assert FAST.cost(Usage(input=1_000_000, output=200_000, cached=600_000)) == pytest.approx(0.4 + 0.06 + 1.0)


def test_cached_tokens_without_a_price_cost_as_others_do() -> None:
    assert Price(1.0, 5.0).cost(Usage(input=1_000_000, cached=600_000)) == 1.0


def test_an_unknown_price_is_none_and_never_0() -> None:
    prices = Prices({"fast": FAST})
    assert prices.cost(Usage(input=10), "slow") is None
    assert prices.cost(Usage(), "slow") is None
    assert prices.cost(Usage(), "fast") == 0


def test_a_free_model_has_a_price() -> None:
    assert Prices({"local": {"input": 0, "output": 0}}).cost(Usage(input=10, output=10), "local") == 0


def test_a_sum_with_something_unknown_is_unknown() -> None:
    assert total([0.5, None]) is None
    assert total([0.5, 0.25]) == 0.75
    assert total([]) == 0


def test_the_workflows_name_counts_before_the_providers() -> None:
    prices = Prices({"fast": FAST, "big-model-1": Price(9.0, 9.0)})
    assert prices.of("fast", "big-model-1") == FAST
    assert prices.of("other", "big-model-1") == Price(9.0, 9.0)


def test_more_cached_tokens_than_input_are_not_a_discount() -> None:
    assert FAST.cost(Usage(input=10, cached=1_000)) == FAST.cost(Usage(input=10, cached=10))


@given(st.integers(0, 10**7), st.integers(0, 10**7), st.integers(0, 10**7))
def test_no_call_costs_more_than_was_said_before(input: int, output: int, cached: int) -> None:
    most = FAST.most(input, output)
    assert 0 <= FAST.cost(Usage(input=input, output=output, cached=cached)) <= most * (1 + 1e-12)


@pytest.mark.parametrize(
    "price",
    [
        {},
        {"input": 1},
        {"input": -1, "output": 1},
        {"input": "1", "output": 1},
        {"input": 1, "output": 1, "x": 1},
        {"input": float("nan"), "output": 1},
        {"input": 1, "output": float("inf")},
        {"input": 1, "output": 1, "cached": -1},
    ],
)
def test_a_price_that_can_not_be_one_is_refused(price: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as refused:
        Prices({"fast": price})
    assert refused.value.code == "agent.bad_price"
