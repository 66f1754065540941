"""Conditions of the type `cross_node_comparison`, in both forms."""

from __future__ import annotations

from typing import Any

import pytest

from plait import conditions
from tests.conditions.judging import failure, flaws, judged, truth

CTX = {
    "initial_score": {"output": {"score": 40, "tags": ["a", "b"], "name": "x"}, "metadata": {"attempt": 2}},
    "forecast": {"output": {"predicted_revenue": 100}, "metadata": {}},
}


def compared(left: Any, operator: str, right: Any) -> dict[str, Any]:
    return {"type": "cross_node_comparison", "left": left, "operator": operator, "right": right}


def current(path: str) -> dict[str, Any]:
    return {"source": "current", "path": path}


def of(node: str, path: str) -> dict[str, Any]:
    return {"source": "context", "node": node, "path": path}


def value(literal: Any) -> dict[str, Any]:
    return {"value": literal}


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (compared(current("output.final_score"), ">", of("initial_score", "output.score")), True),
        (compared(current("output.final_score"), "<", of("initial_score", "output.score")), False),
        (compared(current("output.final_score"), ">=", value(50.0)), True),
        (compared(current("output.final_score"), "<=", value(50)), True),
        (compared(current("output.items[0].id"), "==", value("i-1")), True),
        (compared(current("output.items.0.id"), "!=", value("i-2")), True),
        (compared(value("a"), "in", of("initial_score", "output.tags")), True),
        (compared(value("c"), "not_in", of("initial_score", "output.tags")), True),
        (compared(of("initial_score", "output.tags"), "contains", value("b")), True),
        (compared(of("initial_score", "output.name"), "contains", value("x")), True),
        (compared(of("initial_score", "metadata.attempt"), "==", value(2)), True),
        (compared(value("1"), "==", value(1)), False),
        (compared(current('output["a.b"]'), "==", value(1)), True),
    ],
)
def test_two_values_are_compared(condition: Any, expected: bool):
    output = {"final_score": 50, "items": [{"id": "i-1"}], "a.b": 1}
    assert truth(condition, output, CTX) is expected


def test_an_expression_compares_too():
    growth = (
        "(current.output.revenue - ctx.forecast.output.predicted_revenue) / ctx.forecast.output.predicted_revenue > 0.1"
    )
    condition = {"type": "cross_node_comparison", "expression": growth}
    assert truth(condition, {"revenue": 120}, CTX) is True
    assert truth(condition, {"revenue": 105}, CTX) is False
    assert conditions.compile(condition).reads == {"forecast"}


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (compared(current("output.gone"), ">", value(1)), "`output.gone` of this node is missing"),
        (compared(value(1), "!=", of("never_ran", "output.x")), "`output.x` of `never_ran` is missing"),
        (compared(value(1), "not_in", of("initial_score", "output.tags[7]")), "`output.tags.7` of `initial_score`"),
        ({"type": "cross_node_comparison", "expression": "ctx.never_ran.output.x > 1"}, "`never_ran` has not run"),
        ({"type": "cross_node_comparison", "expression": "current.output.gone == 1"}, "no field `gone`"),
        ({"type": "cross_node_comparison", "expression": "ctx.initial_score.output.tags[9] == 1"}, "no item 9"),
    ],
)
def test_a_missing_operand_makes_it_false_and_is_noted(condition: Any, message: str):
    found = judged(condition, {}, CTX)
    assert found.value is False
    assert found.error is not None
    assert found.error.code == "condition.missing_operand"
    assert found.error.soft
    assert message in found.error.message


def test_null_is_no_missing_operand():
    assert truth(compared(current("output.x"), "==", value(None)), {"x": None}) is True


def test_other_errors_stand():
    assert failure(compared(value(1), "<", value("a"))) == "type_mismatch"
    assert failure(compared(value(1), "in", value("abc"))) == "type_mismatch"
    assert failure({"type": "cross_node_comparison", "expression": "1 / 0 > 1"}) == "div_zero"
    assert failure({"type": "cross_node_comparison", "expression": "current.output"}, 5) == "not_boolean"


def test_it_reads_the_nodes_it_names():
    condition = compared(of("a", "output"), "==", of("b", "output.x"))
    assert conditions.compile(condition).reads == {"a", "b"}
    found = flaws(condition, "/c", nodes=["b"])
    assert [(flaw.code, flaw.pointer) for flaw in found] == [("condition.unknown_node", "/c/left/node")]


@pytest.mark.parametrize(
    ("condition", "pointer", "message"),
    [
        (compared(value(1), "==", value(1)) | {"expression": "true"}, "", "keep one of the two forms"),
        ({"type": "cross_node_comparison"}, None, "`left` is missing"),
        (compared(5, "==", value(1)), "/left", "`left` must be an object"),
        (compared({"source": "now", "path": "output"}, "==", value(1)), "/left/source", "use current, context"),
        (compared(current("final_score"), "==", value(1)), "/left/path", "start it with `output.` or `metadata.`"),
        (compared(current("output..x"), "==", value(1)), "/left/path", "is no path"),
        (compared({"source": "context", "path": "output"}, "==", value(1)), "/left", "`node` is missing"),
        (compared(value(1), "~", value(1)), "/operator", "use >, >="),
        ({"type": "cross_node_comparison", "expression": "output.x > 1"}, "/expression", "use current, ctx"),
    ],
)
def test_what_can_not_be_used_is_refused(condition: Any, pointer: str | None, message: str):
    found = flaws(condition)
    assert message in found[0].message
    assert pointer is None or [flaw.pointer for flaw in found] == [pointer]
