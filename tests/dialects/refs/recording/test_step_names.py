from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.dialects.refs.recording.step_names import base_of, counted, name_flaw, next_number, numbered


@pytest.mark.parametrize(
    ("tool", "base"),
    [
        ("GET_USER", "get_user"),
        ("getUser", "getuser"),
        ("crm/get-user.v2", "crm_get_user_v2"),
        ("a -- b", "a_b"),
        ("2fa", "t_2fa"),
        ("_private", "_private"),
        ("ÄRGER", "_rger"),
        ("§§", "tool"),
        ("x" * 80, "x" * 48),
    ],
)
def test_a_base_is_the_tools_name_in_plain_characters(tool: str, base: str) -> None:
    assert base_of(tool) == base


@given(st.text(), st.integers(1, 10**6))
def test_every_tool_gives_names_that_steps_may_have(tool: str, number: int) -> None:
    assert name_flaw(numbered(base_of(tool), number)) is None


def test_a_number_is_never_given_twice() -> None:
    counters = counted("get_user_7", {"get_user": 2})
    assert next_number("get_user", counters) == 8
    assert next_number("get_user", counted("get_user_3", counters)) == 8
    assert next_number("get_order", counters) == 1


def test_a_name_without_a_number_counts_nothing() -> None:
    assert counted("customer", {}) == {}
    assert counted("customer_0", {}) == {}


@pytest.mark.parametrize(
    ("name", "code"), [("input", "reserved_name"), ("my step", "bad_name"), ("a-", "bad_name"), ("a" * 65, "bad_name")]
)
def test_names_that_no_step_may_have(name: str, code: str) -> None:
    assert name_flaw(name) == code
