"""What a caller asks for is read alike by preview and start, and held to its limits."""

from __future__ import annotations

from typing import Any

import pytest

from plait.dialects.goals import limits
from plait.dialects.goals.errors import GoalsError
from plait.dialects.goals.planning.request import read_request


def test_a_request_keeps_order_and_unused_names_and_removes_duplicates() -> None:
    request = read_request(["b", "a", "b"], {"unused": None})
    assert (request.goals, request.init) == (("b", "a"), {"unused": None})
    assert read_request(["a"] * 65, None).init == {}


@pytest.mark.parametrize(
    ("goals", "init", "code", "text"),
    [
        (None, {}, "no_goals", "name at least one goal step"),
        ("a", {}, "bad_request", "goals are no list; send a list of step ids"),
        ([1], {}, "bad_request", "a goal is no string; send step ids"),
        (["a"], [], "bad_request", "init is no object; send one of names and values"),
        (
            ["a"],
            {str(number): 1 for number in range(129)},
            "too_large",
            "init has 129 names, the limit is 128; put several values into one object",
        ),
        (
            ["a"],
            {"x": "y" * limits.RUN_BYTES},
            "too_large",
            "the run has 1,048,589 bytes, the limit is 1,048,576; store large values elsewhere and pass references",
        ),
    ],
    ids=["none", "text", "number", "list", "names", "bytes"],
)
def test_a_request_that_can_not_be_read_is_refused(goals: Any, init: Any, code: str, text: str) -> None:
    with pytest.raises(GoalsError) as caught:
        read_request(goals, init)
    assert (caught.value.code, caught.value.message) == (f"goals.{code}", text)
