"""The conditions of the document that the `graph` dialect comes from, letter by letter."""

from __future__ import annotations

from typing import Any

import pytest

from plait import conditions
from plait.conditions import Verdict

LOOP_ON_SCHEMA = {
    "type": "schema_validation",
    "schema": {
        "type": "object",
        "required": ["status", "data"],
        "properties": {"status": {"const": "success"}, "data": {"type": "array", "minItems": 1}},
    },
    "invert": True,
}
PAYMENT = {
    "type": "composite",
    "operator": "AND",
    "conditions": [
        {"type": "cel", "expression": "output.status != 'success'"},
        {
            "type": "jsonpath",
            "query": "$.error_code",
            "operator": "in",
            "value": ["TIMEOUT", "RATE_LIMIT", "TEMP_ERROR"],
        },
        {
            "type": "cross_node_comparison",
            "left": {"source": "current", "path": "output.amount"},
            "operator": "==",
            "right": {"source": "context", "node": "calculate_total", "path": "output.final_amount"},
        },
    ],
}
REFERRAL = {
    "type": "composite",
    "operator": "OR",
    "conditions": [
        {"type": "cel", "expression": "output.score >= 80"},
        {
            "type": "cross_node_comparison",
            "left": {"source": "context", "node": "referral_check", "path": "output.is_referral"},
            "operator": "==",
            "right": {"value": True},
        },
    ],
}
GROWTH = {
    "type": "cross_node_comparison",
    "expression": (
        "(current.output.revenue - ctx.forecast.output.predicted_revenue) / ctx.forecast.output.predicted_revenue > 0.1"
    ),
}
FORECAST = {"forecast": {"output": {"predicted_revenue": 100}}}
TOTAL = {"calculate_total": {"output": {"final_amount": 99.0}}}


def cel(expression: str) -> dict[str, Any]:
    return {"type": "cel", "expression": expression}


def jsonpath(query: str, operator: str, value: Any) -> dict[str, Any]:
    return {"type": "jsonpath", "query": query, "operator": operator, "value": value}


SCORE = cel("output.score >= 80 && ctx.enrich_data.output.revenue > 100000")
RICH = {"enrich_data": {"output": {"revenue": 150_000}}}
ENTERPRISE = jsonpath("$.data.customers[?(@.tier == 'enterprise')].length()", ">", 0)
IMPROVED = {
    "type": "cross_node_comparison",
    "left": {"source": "current", "path": "output.final_score"},
    "operator": ">",
    "right": {"source": "context", "node": "initial_score", "path": "output.score"},
}


@pytest.mark.parametrize(
    ("condition", "output", "ctx", "expected"),
    [
        (cel("output.status != 200"), {"status": 503}, {}, True),
        (cel("output.status != 200"), {"status": 200}, {}, False),
        (cel("output.status != 200 && output.retry_count < 5"), {"status": 500, "retry_count": 4}, {}, True),
        (SCORE, {"score": 85}, RICH, True),
        (SCORE, {"score": 75}, RICH, False),
        (cel("output.score < 50"), {"score": 49.5}, {}, True),
        (cel("output.status == 'success' && output.amount >= 1000"), {"status": "success", "amount": 1000}, {}, True),
        (LOOP_ON_SCHEMA, {"status": "success", "data": []}, {}, True),
        (LOOP_ON_SCHEMA, {"status": "success", "data": [1]}, {}, False),
        (ENTERPRISE, {"data": {"customers": [{"tier": "enterprise"}, {"tier": "free"}]}}, {}, True),
        (ENTERPRISE, {"data": {"customers": [{"tier": "free"}]}}, {}, False),
        (jsonpath("$.transactions[*].amount", "sum_gt", 10000), {"transactions": [{"amount": 10_001}]}, {}, True),
        (jsonpath("$.transactions[*].amount", "sum_gt", 10000), {"transactions": [{"amount": 10_000}]}, {}, False),
        (jsonpath("$.errors.length()", "<", 3), {"errors": ["a", "b"]}, {}, True),
        (IMPROVED, {"final_score": 61}, {"initial_score": {"output": {"score": 60}}}, True),
        (GROWTH, {"revenue": 120}, FORECAST, True),
        (GROWTH, {"revenue": 110}, FORECAST, False),
        (PAYMENT, {"status": "failed", "error_code": "TIMEOUT", "amount": 99}, TOTAL, True),
        (PAYMENT, {"status": "failed", "error_code": "FRAUD", "amount": 99}, TOTAL, False),
        (REFERRAL, {"score": 10}, {"referral_check": {"output": {"is_referral": True}}}, True),
        (REFERRAL, {"score": 10}, {"referral_check": {"output": {"is_referral": False}}}, False),
    ],
)
def test_an_example_of_the_seed(condition: Any, output: Any, ctx: Any, expected: bool):
    assert conditions.compile(condition, nodes=list(ctx) or None).evaluate(output, ctx) == Verdict(expected)


def test_a_schema_by_reference():
    ref = "cas://sha256:schema123"
    compiled = conditions.compile({"type": "schema_validation", "schema_ref": ref}, blobs={ref: b'{"type": "object"}'})
    assert compiled.evaluate({}) == Verdict(True)
