"""The retry policy: how long to wait, and what is no policy at all."""

from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st

from plait.kernel.errors import InvalidInput
from plait.kernel.retry import DEFAULT_CAP, MAX_ATTEMPTS, MAX_CAP, ONCE, Retry


@pytest.mark.parametrize(
    ("policy", "delays"),
    [
        (Retry(backoff="fixed", first=2), [2, 2, 2, 2]),
        (Retry(backoff="linear", first=2), [2, 4, 6, 8]),
        (Retry(backoff="exponential", first=1, factor=3), [1, 3, 9, 27]),
        (Retry(backoff="linear", first=2, cap=5), [2, 4, 5, 5]),
        (Retry(backoff="exponential", first=1, factor=10, cap=50), [1, 10, 50, 50]),
        (Retry(backoff="fixed", first=60, cap=20), [20, 20, 20, 20]),
        (Retry(first=0), [0, 0, 0, 0]),
        (Retry(cap=0), [0, 0, 0, 0]),
    ],
)
def test_waits_grow_as_the_policy_says(policy: Retry, delays: list[float]):
    assert [policy.delay(attempt) for attempt in (1, 2, 3, 4)] == delays


def test_the_default_is_three_attempts_with_growing_waits():
    assert Retry().max_attempts == 3
    assert [Retry().delay(attempt) for attempt in (1, 2)] == [0.2, 0.4]


def test_once_means_no_second_attempt():
    assert ONCE.max_attempts == 1


def test_jitter_takes_up_to_its_share_off_the_wait():
    policy = Retry(backoff="fixed", first=10, jitter=0.5)
    assert [policy.delay(1, draw) for draw in (0.0, 0.5, 0.999_999)] == [10, 7.5, pytest.approx(5, abs=0.001)]


def test_a_thousand_attempts_at_the_steepest_growth_do_not_overflow():
    policy = Retry(max_attempts=MAX_ATTEMPTS, first=MAX_CAP, factor=100, cap=MAX_CAP)
    assert policy.delay(MAX_ATTEMPTS) == MAX_CAP


@hypothesis.given(
    backoff=st.sampled_from(["fixed", "linear", "exponential"]),
    first=st.floats(0, MAX_CAP),
    factor=st.floats(1, 100),
    cap=st.floats(0, MAX_CAP),
    jitter=st.floats(0, 1),
    attempt=st.integers(1, MAX_ATTEMPTS),
    fraction=st.floats(0, 1, exclude_max=True),
)
def test_a_wait_is_never_negative_and_never_over_the_cap(
    backoff: Any, first: float, factor: float, cap: float, jitter: float, attempt: int, fraction: float
):
    hypothesis.assume(not first > cap == DEFAULT_CAP)
    policy = Retry(MAX_ATTEMPTS, backoff, first, factor, cap, jitter)
    assert 0 <= policy.delay(attempt, fraction) <= cap


@pytest.mark.parametrize(
    "options",
    [
        {"max_attempts": 0},
        {"max_attempts": -1},
        {"max_attempts": MAX_ATTEMPTS + 1},
        {"max_attempts": 2.5},
        {"max_attempts": "3"},
        {"max_attempts": True},
        {"backoff": "quadratic"},
        {"first": -0.1},
        {"first": float("nan")},
        {"first": float("inf")},
        {"first": "soon"},
        {"first": None},
        {"first": 60},
        {"cap": -1},
        {"cap": MAX_CAP + 1},
        {"factor": 0.5},
        {"factor": float("nan")},
        {"factor": 101},
        {"jitter": -0.1},
        {"jitter": 1.1},
        {"jitter": "some"},
        {"never": [ValueError]},
        {"never": (ValueError("an instance"),)},
        {"never": ("ValueError",)},
        {"never": (int,)},
        {"never": "ValueError"},
    ],
)
def test_a_policy_that_makes_no_sense_is_refused_where_it_is_written(options: dict[str, Any]):
    with pytest.raises(InvalidInput) as caught:
        Retry(**options)
    assert caught.value.code == "kernel.bad_retry"
    assert caught.value.fix


def test_a_policy_can_be_compared_and_used_as_a_key():
    assert {Retry(): 1}[Retry()] == 1
