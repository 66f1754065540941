"""What would run for hours is stopped at its limit, in steps: the same on every machine."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.conditions.judging import failure, judged

LONG = "ab" * 500_000
NUMBERS = list(range(10_000))
DOUBLING = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)} | {"d40": {"type": "string"}}
DEEP: Any = None
for _ in range(60):
    DEEP = {"a": DEEP}


def schema(document: Any) -> dict[str, Any]:
    return {"type": "schema_validation", "schema": document}


def jsonpath(query: str, operator: str = "exists", **value: Any) -> dict[str, Any]:
    return {"type": "jsonpath", "query": query, "operator": operator} | value


BOMBS: list[tuple[str, Any, Any]] = [
    ("nested all", "$.all(a, $.all(b, $.all(c, $.all(d, a + b + c + d >= 0))))", NUMBERS),
    ("nested exists with errors", "$.exists(a, $.exists(b, a / (b - b) > 1))", NUMBERS),
    ("nested map", "size($.map(a, $.map(b, $))) > 0", NUMBERS),
    ("macro over keys", "$.all(a, $.all(b, a != b || true))", {str(n): n for n in NUMBERS}),
    ("text in text", "$.l.all(x, ($.s + $.s + $.s).contains('zz') || true)", {"s": LONG, "l": NUMBERS}),
    ("lists added", "size([1].map(x, $ + $ + $ + $ + $ + $ + $ + $ + $ + $ + $)) > 0", NUMBERS),
    ("large lists compared", "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11].all(x, $ == $)", NUMBERS),
    ("in a list", "$.all(x, x in $)", NUMBERS),
    ("long texts compared", "$.l.all(x, $.s == $.s)", {"s": LONG, "l": NUMBERS}),
    ("pattern with many states", "$.matches('(.{0,300}b){3}c')", LONG),
    ("pattern from data", "$.l.all(x, $.s.matches($.p) || true)", {"s": "a", "p": "(a{0,30}){0,30}", "l": NUMBERS}),
    ("descent in a filter", jsonpath("$..[?count($..*) > 1]"), [[[n] for n in range(200)] for _ in range(20)]),
    ("filter in a filter", jsonpath("$[?$[?@ > 1]]"), NUMBERS),
    ("descents", jsonpath("$..*..*..*"), DEEP),
    ("pattern in a filter", jsonpath("$[?search(@, '(.{0,300}b){3}c')]"), [LONG]),
    ("pattern in an array", jsonpath("$[?match(@, '(a|b)*')]"), [LONG] * 200),
    ("long lists", jsonpath("$[*]", "in", value=list(range(1_000))), [-1] * 1_000),
    ("doubling references", schema({"$defs": DOUBLING, "$ref": "#/$defs/d0"}), "x"),
    ("a reference to itself", schema({"$ref": "#"}), "x"),
    ("a branch to itself", schema({"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}), "x"),
    ("doubling by depth", schema({"properties": {"a": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}}), DEEP),
    ("wide by long", schema({"items": {"allOf": [{"type": "integer"}] * 500}}), NUMBERS),
    ("pattern of a schema", schema({"pattern": "(.{0,300}b){3}c"}), LONG),
    ("patterns of names", schema({"patternProperties": {"(.{0,300}b){3}c": True}}), {LONG: 1}),
    ("unique items", schema({"uniqueItems": True}), [NUMBERS] * 20),
    (
        "comparison of nodes",
        {
            "type": "cross_node_comparison",
            "left": {"source": "current", "path": "output"},
            "operator": "==",
            "right": {"source": "current", "path": "output"},
        },
        [NUMBERS] * 20,
    ),
]


@pytest.mark.parametrize(
    "condition", ["$ == $", jsonpath("$", "==", value=[]), schema({"items": {"$ref": "#"}}), jsonpath("$..a")]
)
def test_values_deeper_than_any_that_is_stored_are_survived(condition: Any):
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert judged(condition, deep).error is None or failure(condition, deep) == "budget"


@pytest.mark.parametrize(("condition", "output"), [bomb[1:] for bomb in BOMBS], ids=[bomb[0] for bomb in BOMBS])
def test_a_bomb_is_stopped_at_its_limit(condition: Any, output: Any):
    started = time.process_time()
    assert failure(condition, output) == "budget"
    assert time.process_time() - started < 2  # none takes a quarter of a second on a quiet machine
