"""Conditions of the type `jsonpath`: operators, `.length()`, and what no match means."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conditions.judging import failure, flaws, judged, truth

ORDERS = {
    "data": {"customers": [{"tier": "enterprise", "n": 1}, {"tier": "free", "n": 5}, {"tier": "enterprise", "n": 9}]},
    "transactions": [{"amount": 6000}, {"amount": 4500.5}],
    "errors": ["a", "b"],
    "name": "Plait",
    "nothing": None,
    "count": 3,
    "ok": True,
    "empty": [],
}


def query(text: str, operator: str | None = None, **value: Any) -> dict[str, Any]:
    return {"type": "jsonpath", "query": text} | ({"operator": operator} if operator else {}) | value


@pytest.mark.parametrize(
    ("text", "operator", "value", "expected"),
    [
        ("$.data.customers[?(@.tier == 'enterprise')].length()", ">", 0, True),
        ("$.data.customers[?@.tier == 'gold'].length()", ">", 0, False),
        ("$.data.customers[?@.tier == 'gold'].length()", "==", 0, True),
        ("$.data.customers[*].length()", "==", 3, True),
        ("$.data.customers[0:2].length()", "==", 2, True),
        ("$..n.length()", "==", 3, True),
        ("$.errors.length()", "<", 3, True),
        ("$.name.length()", "==", 5, True),
        ("$.data.length()", "==", 1, True),
        ("$.missing.length()", "==", 0, False),
        ("$.missing.length()", "!=", 7, False),
        ("$.count", ">", 2, True),
        ("$.count", "<", 3, False),
        ("$.count", ">=", 3, True),
        ("$.count", "<=", 3.0, True),
        ("$.count", "==", 3.0, True),
        ("$.count", "!=", 3, False),
        ("$.ok", "==", 1, False),
        ("$.ok", "!=", 1, True),
        ("$.name", ">", 1, False),
        ("$.name", ">", "Plaid", True),
        ("$.ok", ">=", 1, False),
        ("$.missing", "!=", 1, False),
        ("$.missing", "==", 1, False),
        ("$.nothing", "==", None, True),
        ("$.data.customers[*].n", ">", 8, True),
        ("$.data.customers[*].n", ">", 9, False),
        ("$.data.customers[*].tier", "in", ["free", "gold"], True),
        ("$.count", "in", [], False),
        ("$.data.customers[*].tier", "not_in", ["gold"], True),
        ("$.data.customers[*].tier", "not_in", ["free"], False),
        ("$.missing", "not_in", ["free"], False),
        ("$.name", "contains", "lai", True),
        ("$.name", "contains", 1, False),
        ("$.errors", "contains", "b", True),
        ("$.errors", "contains", "c", False),
        ("$.count", "contains", 3, False),
        ("$.transactions[*].amount", "sum_gt", 10000, True),
        ("$.transactions[*].amount", "sum_gt", 10500.5, False),
        ("$.transactions[*].amount", "sum_gte", 10500.5, True),
        ("$.transactions[*].amount", "sum_lt", 10501, True),
        ("$.transactions[*].amount", "sum_lte", 10500.5, True),
        ("$.transactions[*].amount", "sum_eq", 10500.5, True),
        ("$.transactions[*].amount", "count_eq", 2, True),
        ("$.transactions[*].amount", "min_gt", 4500, True),
        ("$.transactions[*].amount", "max_lte", 6000, True),
        ("$.transactions[*].amount", "avg_gt", 5250, True),
        ("$.errors", "count_eq", 2, True),
        ("$.missing", "sum_eq", 0, True),
        ("$.missing", "count_eq", 0, True),
        ("$.empty", "count_eq", 0, True),
        ("$.empty", "sum_gte", 0, True),
        ("$.missing", "min_lt", 5, False),
        ("$.missing", "max_gt", -5, False),
        ("$.missing", "avg_eq", 0, False),
    ],
)
def test_an_operator_compares_the_matches(text: str, operator: str, value: Any, expected: bool):
    assert truth(query(text, operator, value=value), ORDERS) is expected


@pytest.mark.parametrize(
    ("text", "exists"),
    [("$.count", True), ("$.nothing", True), ("$.missing", False), ("$.empty[*]", False), ("$.empty.length()", True)],
)
def test_without_an_operator_a_match_is_enough(text: str, exists: bool):
    assert truth(query(text), ORDERS) is exists
    assert truth(query(text, "exists"), ORDERS) is exists
    assert truth(query(text, "not_exists"), ORDERS) is not exists


@pytest.mark.parametrize(
    ("text", "operator", "code"),
    [
        ("$.count.length()", ">", "type_mismatch"),
        ("$.nothing.length()", ">", "type_mismatch"),
        ("$.errors", "sum_gt", "type_mismatch"),
        ("$.ok", "max_gt", "type_mismatch"),
        ("$.data.customers[*].tier", "avg_lt", "type_mismatch"),
    ],
)
def test_what_can_not_be_counted_is_an_error(text: str, operator: str, code: str):
    assert failure(query(text, operator, value=1), ORDERS) == code


def test_a_sum_beyond_finite_numbers_is_an_error():
    assert failure(query("$[*]", "sum_gt", value=1), [1e308, 1e308]) == "overflow"
    assert failure(query("$[*]", "avg_gt", value=1), [10**400, 1]) == "overflow"


def test_too_many_matches_are_over_the_budget():
    assert truth(query("$[*]", "count_eq", value=10_000), [0] * 10_000) is True
    assert failure(query("$[*]", "count_gt", value=1), [0] * 10_001) == "budget"
    assert failure(query("$[*]", "in", value=list(range(1, 1000))), [0] * 1_000) == "budget"


@pytest.mark.parametrize(
    ("condition", "code", "pointer", "message"),
    [
        (query("$.a[", "exists"), "syntax", "/query", "it ends early"),
        (query("a.b"), "syntax", "/query", "invalid condition at column 1"),
        (query("$.a > 1"), "bad_shape", "/query", "compare with `operator` and `value`"),
        (query(f"$.{'a' * 5000}"), "too_big", "/query", "limit 4,096"),
        (query("$[?match(@.a, '(')]"), "syntax", "/query", "pattern"),
        (query("$.a", "exist"), "bad_shape", "/operator", "did you mean `exists`?"),
        (query("$.a", ">"), "bad_shape", "", "`>` takes a number or a string as `value`"),
        (query("$.a", ">", value=True), "bad_shape", "/value", "`>` takes a number or a string as `value`"),
        (query("$.a", "in", value="x"), "bad_shape", "/value", "`in` takes a list as `value`"),
        (query("$.a", "sum_gt", value="1"), "bad_shape", "/value", "`sum_gt` takes a number as `value`"),
        (query("$.a", "exists", value=1), "bad_shape", "/value", "`exists` takes no `value`"),
        (query("$.a", "=="), "bad_shape", "", "`==` takes a `value`"),
        ({"type": "jsonpath", "query": 5}, "bad_shape", "/query", "`query` must be a string"),
        ({"type": "jsonpath"}, "bad_shape", "", "`query` is missing"),
    ],
)
def test_what_can_not_be_used_is_refused(condition: Any, code: str, pointer: str, message: str):
    (flaw,) = flaws(condition)
    assert (flaw.code, flaw.pointer) == (f"condition.{code}", pointer)
    assert message in flaw.message


def test_no_message_shows_a_value():
    found = judged(query("$.card.length()", ">", value=1), {"card": 4111})
    assert found.error is not None
    assert "4111" not in found.error.message
