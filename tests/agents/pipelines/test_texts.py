"""Steps that read texts: regular expressions, dates, jq."""

from __future__ import annotations

from typing import Any

import pytest

from plait.agents.pipelines.errors import InvalidPipeline, PipelineError

from .running import run


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        (r"\d+", "42"),
        (r"(\d)(\d)", ["4", "2"]),
        (r"(?P<ten>\d)(\d)", {"ten": "4"}),
        (r"(x)?4", [None]),
        ("nothing", None),
    ],
)
async def test_the_first_match_is_a_text_a_list_or_an_object(pattern: str, found: Any) -> None:
    assert await run({"step": "regex_extract", "pattern": pattern}, data="ab 42 7") == found
    rows = [{"t": "ab 42 7", "n": 1}, {"t": 3}, {}]
    assert await run({"step": "regex_extract", "pattern": pattern, "field": "t"}, data=rows) == [
        {"t": "ab 42 7", "n": 1, "t_extracted": found},
        {"t": 3, "t_extracted": None},
        {"t_extracted": None},
    ]


async def test_a_list_of_texts_gives_a_list_and_one_of_objects_needs_a_field() -> None:
    assert await run({"step": "regex_extract", "pattern": "a+"}, data=["baa", "b"]) == ["aa", None]
    with pytest.raises(PipelineError, match="item 1 is an object"):
        await run({"step": "regex_extract", "pattern": "a+"}, data=["a", {}])


async def test_a_slow_pattern_takes_linear_time() -> None:
    assert await run({"step": "regex_extract", "pattern": "(a+)+$"}, data="a" * 10_000 + "b") is None


async def test_dates_keep_their_offset_and_get_one_from_the_time_zone() -> None:
    rows = [
        {"d": "2026-03-01T10:00:00+05:00"},
        {"d": "2026-07-01T10:00"},
        {"d": "2026-10-25T02:30:00"},
        {"d": None},
        {"x": 1},
    ]
    found = await run({"step": "parse_date", "field": "d", "tz": "Europe/Berlin"}, data=rows)
    assert found == [
        {"d": "2026-03-01T10:00:00+05:00"},
        {"d": "2026-07-01T10:00:00+02:00"},
        {"d": "2026-10-25T02:30:00+02:00"},
        {"d": None},
        {"x": 1},
    ]


async def test_dates_are_read_by_their_format_and_go_where_they_are_wanted() -> None:
    step = {"step": "parse_date", "field": "at.day", "format": "%d.%m.%Y", "into": "day"}
    row = {"at": {"day": "03.02.2026"}}
    assert await run(step, data=[row]) == [row | {"day": "2026-02-03T00:00:00+00:00"}]


@pytest.mark.parametrize("value", ["soon", 1_700_000_000, True, [], ""])
async def test_what_is_no_date_fails_or_becomes_null(value: Any) -> None:
    assert await run({"step": "parse_date", "field": "d", "on_error": "null"}, data=[{"d": value}]) == [{"d": None}]
    with pytest.raises(PipelineError, match="of row 1"):
        await run({"step": "parse_date", "field": "d"}, data=[{"d": "2026-01-01"}, {"d": value}])


@pytest.mark.costly
@pytest.mark.parametrize(
    ("query", "found"), [(".a", 1), (".a, .b", [1, 2]), ("empty", []), ("[.[]]", [1, 2]), ("env", {}), ("$ENV", {})]
)
async def test_jq_gives_its_one_result_or_the_list_of_them(query: str, found: Any) -> None:
    assert await run({"step": "jq_transform", "query": query}, data={"a": 1, "b": 2}) == found


@pytest.mark.costly
@pytest.mark.parametrize(
    ("query", "told"),
    [
        ('import "a" as a; .', "line 1, column 1: syntax error, unexpected import"),
        ('include "a"; .', "line 1, column 1: syntax error, unexpected include"),
        (".a[", "line 1, column 3: syntax error, unexpected end of file"),
        ("nope", "line 1, column 1: nope/0 is not defined"),
    ],
)
async def test_what_is_no_query_is_refused_before_anything_runs(query: str, told: str) -> None:
    with pytest.raises(InvalidPipeline) as caught:
        await run({"step": "top_k", "k": 1}, {"step": "jq_transform", "query": query}, data="no list, so step 1 fails")
    assert caught.value.what == f"step 2 (jq_transform): query: {told}"
    assert [flaw.pointer for flaw in caught.value.flaws] == ["/1/query"]


@pytest.mark.costly
@pytest.mark.parametrize(
    ("query", "told"),
    [
        (".a.b", "Cannot index number with string"),
        ("now", "`now` is not available"),
        ("def f: f; f", "longer than 1 s"),
        ("range(infinite)", "too large|longer than 1 s"),
        ('"\\u0000"', "can't be kept"),
        ("[limit(1e9; repeat(1))]", "memory|longer than 1 s|process"),
    ],
)
async def test_a_query_that_fails_or_never_ends_fails_its_step(query: str, told: str) -> None:
    with pytest.raises(PipelineError, match=told):
        await run({"step": "jq_transform", "query": query}, data={"a": 1})
