"""All flaws of a pipeline are found at once, with their places, before anything runs."""

from __future__ import annotations

from typing import Any

import pytest

from plait.agents.pipelines.errors import InvalidPipeline
from plait.agents.pipelines.reading import read


def _flaws(pipeline: Any) -> list[tuple[str, str]]:
    with pytest.raises(InvalidPipeline) as caught:
        read(pipeline)
    return [(flaw.pointer, flaw.message) for flaw in caught.value.flaws]


_CASES: list[tuple[Any, str]] = [
    ({}, "a pipeline must be an array of steps"),
    ([], "a pipeline has 1 to 50 steps, this one has 0"),
    ([{"step": "top_k", "k": 1}] * 51, "a pipeline has 1 to 50 steps, this one has 51"),
    ([3], "step 1 must be an object with `step` and its parameters"),
    ([{"step": "top_n"}], "step 1: unknown step `top_n`; did you mean `top_k`?"),
]
_STEP_CASES: list[tuple[str, dict[str, Any], str]] = [
    ("top_k", {}, "k is required"),
    ("top_k", {"k": 0}, "k must be an integer of 1 or more, got 0"),
    ("table_sort", {"field": "a", "oder": "asc"}, "unknown field `oder`; did you mean `order`?"),
    ("table_sort", {"field": "a", "order": "up"}, "order must be `asc` or `desc`, got `up`"),
    (
        "table_filter",
        {"condition": {"field": "a", "op": "=="}},
        "condition.value is required; null is a value, too",
    ),
    ("table_select", {"fields": []}, "fields must name at least one"),
    ("groupby", {"by": []}, "by must name at least one field"),
    (
        "groupby",
        {"by": "a", "field": "b"},
        "field does not go with agg `count`; leave it out, or choose sum, avg, min or max",
    ),
    ("groupby", {"by": "a", "agg": "sum"}, "field is required for agg `sum`"),
    ("join", {"on": "a"}, "left and right are both absent; give one: the other is the incoming data"),
    (
        "parse_date",
        {"field": "a", "tz": "Mars/North"},
        "unknown time zone `Mars/North`; use a name such as `Europe/Berlin`",
    ),
]


@pytest.mark.parametrize(("pipeline", "told"), _CASES)
def test_what_is_no_pipeline_is_refused(pipeline: Any, told: str) -> None:
    assert [message for _, message in _flaws(pipeline)] == [told]


@pytest.mark.parametrize(("name", "parameters", "told"), _STEP_CASES)
def test_a_flaw_says_where_it_is_and_what_to_do(name: str, parameters: dict[str, Any], told: str) -> None:
    flaws = _flaws([{"step": name, **parameters}])
    assert [message for _, message in flaws] == [f"step 1 ({name}): {told}"]


def test_all_flaws_are_told_at_once() -> None:
    steps = [{"step": "top_k", "k": "1"}, {"step": "table_sort"}, {"step": "regex_extract", "pattern": "("}]
    assert [pointer for pointer, _ in _flaws(steps)] == ["/0/k", "/1", "/2/pattern"]


def test_null_is_a_value_to_compare_with() -> None:
    (step,) = read([{"step": "table_filter", "condition": {"field": "a", "op": "==", "value": None}}])
    assert step.condition.value is None  # type: ignore[union-attr]
