"""The table steps: examples of the edges that were decided, and any table against the plainest code there is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.agents.pipelines.errors import PipelineError
from plait.agents.pipelines.execution import Execution
from plait.agents.pipelines.reading import read
from plait.scripts.jq import JqPool

from . import reference
from .running import run

_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([0.0, 1.0, 1.5, -2.0])
    | st.sampled_from(["", "a", "b", "ab", "1"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["b", "c"]), inner, max_size=2),
    max_leaves=3,
)
_rows = st.lists(st.dictionaries(st.sampled_from(["a", "b", "a.b"]), _values, max_size=3), max_size=8)
_field = st.sampled_from(["a", "b", "a.b"])


async def _pipeline(step: dict[str, Any], data: Any) -> Any:
    return await Execution(_never, JqPool()).run(read([step]), data)


async def _never(request: object) -> Any:
    raise AssertionError


@given(_rows, _field, st.sampled_from(["asc", "desc"]))
async def test_any_table_is_sorted_as_the_reference_sorts_it(rows: Any, field: str, order: str) -> None:
    found = await _pipeline({"step": "table_sort", "field": field, "order": order}, rows)
    assert [id(row) for row in found] == [id(row) for row in reference.sort(rows, field, order)]


@given(_rows, _field, st.sampled_from(["<", ">", "<=", ">=", "==", "!=", "in", "contains"]), _values)
async def test_any_table_is_filtered_as_the_reference_filters_it(rows: Any, field: str, op: str, value: Any) -> None:
    found = await _pipeline({"step": "table_filter", "condition": {"field": field, "op": op, "value": value}}, rows)
    assert [id(row) for row in found] == [id(row) for row in rows if reference.keeps(row, field, op, value)]


@given(_rows, st.lists(_field, min_size=1, max_size=2, unique=True))
async def test_any_table_is_grouped_as_the_reference_groups_it(rows: Any, by: list[str]) -> None:
    found = await _pipeline({"step": "groupby", "by": by}, rows)
    expected = reference.group(rows, by)
    assert [row["count"] for row in found] == [row["count"] for row in expected]
    assert all(reference.equal(one, other) for one, other in zip(found, expected, strict=True))


@given(_rows, _rows, st.lists(_field, min_size=1, max_size=2, unique=True), st.sampled_from(["inner", "left"]))
async def test_any_tables_are_joined_as_the_reference_joins_them(
    left: Any, right: Any, on: list[str], how: str
) -> None:
    lefts = [row | {"left": i} for i, row in enumerate(left)]
    rights = [row | {"right": i} for i, row in enumerate(right)]
    found = await _pipeline({"step": "join", "right": rights, "on": on, "how": how}, lefts)
    expected = [pair for pair in reference.pairs(lefts, rights, on) if how == "left" or pair[1] is not None]
    assert [(row["left"], row.get("right")) for row in found] == expected


async def test_a_sort_keeps_the_order_of_equals_and_puts_missing_ones_last_in_both_directions() -> None:
    rows = [{"n": 1, "i": 0}, {"i": 1}, {"n": 2, "i": 2}, {"n": None, "i": 3}, {"n": 1.0, "i": 4}]
    assert [row["i"] for row in await run({"step": "table_sort", "field": "n"}, data=rows)] == [0, 4, 2, 1, 3]
    descending = {"step": "table_sort", "field": "n", "order": "desc"}
    assert [row["i"] for row in await run(descending, data=rows)] == [2, 0, 4, 1, 3]


async def test_a_sort_orders_types_numbers_texts_booleans_others() -> None:
    rows = [{"v": each} for each in ([1], True, "b", 2, False, "B", {"a": 1}, -1.5)]
    found = await run({"step": "table_sort", "field": "v"}, data=rows)
    assert [row["v"] for row in found] == [-1.5, 2, "B", "b", False, True, [1], {"a": 1}]


async def test_an_exact_key_wins_over_a_path() -> None:
    rows = [{"a": {"b": 1}}, {"a.b": 2, "a": {"b": 9}}, {"a": [{"b": 3}]}]
    assert await run({"step": "table_select", "fields": ["a.b"]}, data=rows) == [
        {"a.b": 1},
        {"a.b": 2},
        {"a.b": None},
    ]


async def test_groups_sum_and_average_numbers_and_skip_nulls() -> None:
    rows = [{"t": "a", "n": 1}, {"t": "b", "n": None}, {"t": "a", "n": 2.5}, {"n": 4}]
    summed = await run({"step": "groupby", "by": "t", "agg": "sum", "field": "n"}, data=rows)
    assert summed == [{"t": "a", "sum_n": 3.5}, {"t": "b", "sum_n": 0}, {"t": None, "sum_n": 4}]
    averaged = await run({"step": "groupby", "by": ["t"], "agg": "avg", "field": "n"}, data=rows)
    assert averaged == [{"t": "a", "avg_n": 1.75}, {"t": "b", "avg_n": None}, {"t": None, "avg_n": 4}]


@pytest.mark.parametrize("agg", ["sum", "avg"])
@pytest.mark.parametrize(("value", "kind"), [("7", "a text"), (True, "a boolean")])
async def test_what_is_no_number_has_no_sum(agg: str, value: Any, kind: str) -> None:
    with pytest.raises(PipelineError) as caught:
        await run({"step": "groupby", "by": "t", "agg": agg, "field": "n"}, data=[{"n": 1}, {"n": value}])
    assert caught.value.what == f"pipeline failed at step 1 (groupby): {agg} of `n`: row 1 has {kind}, not a number"


async def test_the_least_of_mixed_types_is_an_error() -> None:
    with pytest.raises(PipelineError, match="row 1 has a text, others have a number"):
        await run({"step": "groupby", "by": "t", "agg": "min", "field": "n"}, data=[{"n": 1}, {"n": "a"}])
    found = await run({"step": "groupby", "by": "t", "agg": "max", "field": "n"}, data=[{"n": "a"}, {"n": "b"}])
    assert found == [{"t": None, "max_n": "b"}]


async def test_a_sum_that_no_number_can_hold_is_an_error() -> None:
    with pytest.raises(PipelineError, match="too large a number"):
        await run({"step": "groupby", "by": "t", "agg": "sum", "field": "n"}, data=[{"n": 1e308}, {"n": 1e308}])


async def test_a_join_renames_fields_that_clash_and_fills_what_did_not_match() -> None:
    left = [{"id": 1, "x": "l", "x_right": 0}, {"id": None, "x": "n"}, {"id": 3}]
    right = [{"id": 1.0, "x": "r", "y": 1}, {"id": None, "x": "s"}, {"id": 1, "y": 2}]
    found = await run({"step": "join", "right": right, "on": "id", "how": "left"}, data=left)
    assert found == [
        {"id": 1, "x": "l", "x_right": 0, "x_right_2": "r", "y": 1},
        {"id": 1, "x": "l", "x_right": 0, "y": 2},
        {"id": None, "x": "n", "x_right_2": None, "y": None},
        {"id": 3, "x_right_2": None, "y": None},
    ]


async def test_a_join_as_large_as_the_product_of_its_tables_stops_at_the_limit() -> None:
    rows = [{"k": 1}] * 1_000
    with pytest.raises(PipelineError, match="more than 100,000 rows"):
        await run({"step": "join", "right": rows, "on": "k"}, data=rows)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({"a": 1}, "the incoming data must be a list of objects, got an object"),
        ([{}, 3], "the incoming data must be a list of objects: item 1 is a number"),
        (None, "the incoming data must be a list of objects, got null"),
    ],
)
async def test_a_table_step_says_what_is_no_table(data: Any, told: str) -> None:
    with pytest.raises(PipelineError) as caught:
        await run({"step": "table_sort", "field": "a"}, data=data)
    assert caught.value.what == f"pipeline failed at step 1 (table_sort): {told}"


async def test_the_first_rows_of_any_list_are_taken() -> None:
    assert await run({"step": "top_k", "k": 2}, data=[3, "a", None]) == [3, "a"]
    assert await run({"step": "top_k", "k": 9}, data=[3]) == [3]
    assert await run({"step": "table_sort", "field": "a"}, data=[]) == []


async def test_an_error_names_the_step_by_its_number_from_1() -> None:
    with pytest.raises(PipelineError) as caught:
        await run({"step": "top_k", "k": 1}, {"step": "table_sort", "field": "a"}, data=[3, {}])
    told = "pipeline failed at step 2 (table_sort): the incoming data must be a list of objects: item 0 is a number"
    assert caught.value.what == told
