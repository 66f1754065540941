from __future__ import annotations

from typing import Any

import pytest

from plait.agents.promotion.promotable import filled, is_promotable, name_of, parameters_of

RATES = {"step": "http_request", "url": "https://rates.example/v1", "params": {"currency": "SEK", "days": 3}}
TOP = {"step": "top_k", "k": 3}


def request(**changed: Any) -> list[dict[str, Any]]:
    return [RATES | changed, TOP]


def test_a_plain_pipeline_may_be_promoted() -> None:
    assert is_promotable(request())
    assert is_promotable([TOP])


@pytest.mark.parametrize(
    "steps",
    [
        request(headers={"X-Trace": "1"}),
        request(params={"api_key": "x"}),
        request(params={"apiKey": "x"}),
        request(params={"KEY": "x"}),
        request(params={"access_token": "x"}),
        request(params={"password": "x"}),
        request(params={"client-secret": "x"}),
        request(params={"body": {"inner": [{"token": "x"}]}}),
        request(url="https://rates.example/v1?api_key=x"),
        request(url="rates.example/v1?token=x"),
        request(url="https://user:pass@rates.example/v1"),
        request(url="https://[bad"),
        [TOP, {"step": "join", "on": "id", "right": "cas://sha256:00"}],
        [TOP, {"step": "join", "on": "id", "left": "artifact://x"}],
        [{"step": "join", "on": "id", "right": [{"id": n, "name": "x" * 50} for n in range(500)]}],
    ],
)
def test_what_may_hold_a_secret_or_a_runs_own_data_is_never_promoted(steps: list[dict[str, Any]]) -> None:
    assert not is_promotable(steps)


def test_the_name_says_the_first_and_last_step_and_a_part_of_the_hash() -> None:
    assert name_of(request(), "abcdef0123", {}) == "pipe_http_request_top_k_abcdef"
    taken = {"pipe_http_request_top_k_abcdef": "another"}
    assert name_of(request(), "abcdef0123", taken) == "pipe_http_request_top_k_abcdef0"


def test_parameters_are_those_of_the_requests_with_the_literals_as_defaults() -> None:
    properties = parameters_of(request())["properties"]
    assert properties == {"currency": {"type": "string", "default": "SEK"}, "days": {"type": "number", "default": 3}}


def test_a_call_puts_its_arguments_in_place_of_the_literals_and_changes_nothing_else() -> None:
    steps = [RATES, {"step": "http_request", "url": "https://b.example", "params": {"currency": "EUR"}}]
    assert parameters_of(steps)["properties"].keys() == {"currency", "days", "currency_2"}
    made = filled(steps, {"currency_2": "USD", "url": "https://evil.example"})
    assert made[0] == RATES
    assert made[1]["params"] == {"currency": "USD"}
    assert made[1]["url"] == "https://b.example"
    assert steps[1]["params"] == {"currency": "EUR"}
