"""The extra for large tables gives what plain code gives, to the last byte; both give what the reference says."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.agents.pipelines import grouping, joining, large_tables, tables
from plait.agents.pipelines.errors import StepError
from plait.agents.pipelines.reading import read
from plait.kernel import values

from . import reference

pytest.importorskip("polars")

_whole = st.integers(-3, 3) | st.sampled_from([2**53, 2**53 + 1, 2**63 - 1, -(2**63)])
_huge = _whole | st.sampled_from([2**63, 2**64, -(2**63) - 1])
_fractions = st.sampled_from([0.0, -0.0, 1.0, 1.5, 0.1, 0.2, 0.3, 1e16, -1e16, 1e308, 5e-324])
_texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=2) | st.sampled_from(
    ["", "a", "b", "Z", "é", "e\u0301", "\uffff", "\U0001f600"]
)
_mixed = _whole | _fractions | _texts | st.booleans() | st.lists(_whole, max_size=1)


def _rows(kinds: list[st.SearchStrategy[Any]], names: list[str]) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Tables whose columns have one kind of values each, some of them null or missing."""

    @st.composite
    def drawn(draw: st.DrawFn) -> list[dict[str, Any]]:
        columns = {name: draw(st.sampled_from(kinds)) for name in names}
        sparse = draw(st.booleans())
        rows: list[dict[str, Any]] = []
        for at in range(draw(st.integers(0, 12))):
            row = {name: draw(st.none() | column if sparse else column) for name, column in columns.items()}
            if sparse and draw(st.integers(0, 5)) == 0:
                row.pop(names[0])
            rows.append(row | {"at": at})
        return rows

    return drawn()


_ALL = [_whole, _huge, _fractions, _texts, _mixed]
_tables = _rows(_ALL, ["a", "b"])


@contextmanager
def rows_from(least: int):
    """From which number of rows on the extra is used."""
    before, large_tables.LEAST_ROWS = large_tables.LEAST_ROWS, least
    try:
        yield
    finally:
        large_tables.LEAST_ROWS = before


def both(work: Callable[[], Any]) -> Any:
    """What plain code gives, or how it fails; the extra gives the same."""
    found: list[Any] = []
    for least in (1_000_000, 0):
        with rows_from(least):
            try:
                found.append(work())
            except StepError as error:
                found.append(str(error))
    plain, extra = found
    assert values.plain(extra) == values.plain(plain)
    return plain


@given(_tables, st.sampled_from(["asc", "desc"]))
def test_any_table_is_sorted_alike(rows: Any, order: str) -> None:
    (step,) = read([{"step": "table_sort", "field": "a", "order": order}])
    found = both(lambda: tables.sort(step, rows))  # pyright: ignore[reportArgumentType]
    assert [row["at"] for row in found] == [row["at"] for row in reference.sort(rows, "a", order)]


@given(_tables, st.sampled_from(["<", ">", "<=", ">=", "==", "!=", "in", "contains"]), _mixed | _huge | st.none())
def test_any_table_is_filtered_alike(rows: Any, op: str, value: Any) -> None:
    (step,) = read([{"step": "table_filter", "condition": {"field": "a", "op": op, "value": value}}])
    found = both(lambda: tables.filter(step, rows))  # pyright: ignore[reportArgumentType]
    assert found == [row for row in rows if reference.keeps(row, "a", op, value)]


@given(_tables, st.lists(st.sampled_from(["a", "b"]), min_size=1, unique=True))
def test_any_table_is_grouped_alike(rows: Any, by: list[str]) -> None:
    (step,) = read([{"step": "groupby", "by": by}])
    found = both(lambda: grouping.group(step, rows))  # pyright: ignore[reportArgumentType]
    expected = reference.group(rows, by)
    assert all(reference.equal(one, other) for one, other in zip(found, expected, strict=True))


@given(_tables, st.sampled_from(["sum", "avg", "min", "max"]))
def test_groups_of_any_table_have_the_same_sums_and_extremes(rows: Any, agg: str) -> None:
    (step,) = read([{"step": "groupby", "by": "b", "agg": agg, "field": "a"}])
    both(lambda: grouping.group(step, rows))  # pyright: ignore[reportArgumentType]


@given(_tables, _tables, st.sampled_from([["a"], ["a", "b"]]), st.sampled_from(["inner", "left"]), st.integers(3, 200))
def test_any_tables_are_joined_alike(left: Any, right: Any, on: list[str], how: str, most: int) -> None:
    (step,) = read([{"step": "join", "right": [], "on": on, "how": how}])
    rights = [{name: row[name] for name in row if name != "at"} | {"right": row["at"]} for row in right]
    found = both(lambda: joining.join(step, left, rights, most))  # pyright: ignore[reportArgumentType]
    expected = [pair for pair in reference.pairs(left, rights, on) if how == "left" or pair[1] is not None]
    if len(expected) > most:
        assert found == f"it has more than {most:,} rows"
    else:
        assert [(row["at"], row.get("right")) for row in found] == expected


def test_the_extra_is_used_where_columns_fit_and_only_there() -> None:
    with rows_from(3):
        assert large_tables.order([2, 1, 2], descending=True) == [0, 2, 1]
        assert large_tables.order(["b", "a", "é"], descending=False) == [1, 0, 2]
        for column in ([1, 2.0, 3], [1, "a", 2], [True, False, True], [1, 2, 2**63], [[1], [2], [3]], [1, None, 2]):
            assert large_tables.order(column, descending=False) is None
        assert large_tables.order([2, 1], descending=False) is None, "a small table"
        assert large_tables.kept([1, None, 3], "!=", 1) == [1, 2]
        assert large_tables.kept([1, 2, 3], ">", 1.5) is None


def test_without_the_extra_plain_code_does_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large_tables, "_polars", lambda: None)
    (step,) = read([{"step": "table_sort", "field": "n"}])
    with rows_from(0):
        assert tables.sort(step, [{"n": 2}, {"n": 1}]) == [{"n": 1}, {"n": 2}]  # pyright: ignore[reportArgumentType]
