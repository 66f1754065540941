"""Conditions of the type `composite`."""

from __future__ import annotations

from typing import Any

import pytest

from plait import conditions
from tests.conditions.judging import failure, flaws, judged, truth

ERROR = "output.missing == 1"
MISSING = {"type": "cross_node_comparison", "expression": "ctx.never.output.x == 1"}


def joined(operator: str, *children: Any) -> dict[str, Any]:
    return {"type": "composite", "operator": operator, "conditions": list(children)}


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (joined("AND", "true", "true"), True),
        (joined("AND", "true", "false"), False),
        (joined("and", "true"), True),
        (joined("OR", "false", "true"), True),
        (joined("Or", "false", "false"), False),
        (joined("NOT", "false"), True),
        (joined("not", joined("AND", "true", "true")), False),
        (joined("AND", "false", ERROR), False),
        (joined("OR", "true", ERROR), True),
    ],
)
def test_children_are_evaluated_in_order_until_one_decides(condition: Any, expected: bool):
    assert truth(condition, {}) is expected


@pytest.mark.parametrize(
    "condition",
    [joined("AND", ERROR, "false"), joined("OR", ERROR, "true"), joined("NOT", ERROR), joined("OR", "false", ERROR)],
)
def test_an_error_of_an_evaluated_child_is_the_result(condition: Any):
    assert failure(condition, {}) == "no_such_field"


@pytest.mark.parametrize(
    ("condition", "value"),
    [
        (joined("OR", MISSING, "true"), True),
        (joined("OR", MISSING, "false"), False),
        (joined("AND", MISSING, ERROR), False),
        (joined("NOT", MISSING), True),
    ],
)
def test_a_missing_operand_is_noted_on_the_whole(condition: Any, value: bool):
    found = judged(condition, {})
    assert found.value is value
    assert found.error is not None
    assert found.error.soft


def test_it_reads_what_its_children_read():
    condition = joined("OR", "ctx.a.output == 1", joined("NOT", {"type": "when", "ref": "@b.x"}))
    assert conditions.compile(condition).reads == {"a", "b"}
    found = flaws(condition, "/at", nodes=[])
    assert [flaw.pointer for flaw in found] == ["/at/conditions/0", "/at/conditions/1/conditions/0/ref"]


def test_all_flaws_of_all_children_are_told():
    found = flaws(joined("XOR", "output.x >=", {"type": "sel"}, joined("NOT", "true", "true")), "/rules/0")
    assert [(flaw.code, flaw.pointer) for flaw in found] == [
        ("condition.bad_shape", "/rules/0/operator"),
        ("condition.syntax", "/rules/0/conditions/0"),
        ("condition.unknown_type", "/rules/0/conditions/1/type"),
        ("condition.bad_shape", "/rules/0/conditions/2"),
    ]
    assert found[3].message == "condition `NOT` takes one child, got 2; wrap them in AND or OR"


@pytest.mark.parametrize("children", [None, [], "true", {}])
def test_it_needs_children(children: Any):
    (flaw,) = flaws({"type": "composite", "operator": "AND", "conditions": children})
    assert flaw.pointer == "/conditions"


def test_all_children_together_have_one_budget():
    numbers = list(range(5_000))
    for child in (
        "output.all(x, x >= 0)",
        {"type": "jsonpath", "query": "$[?@ < 0]", "operator": "not_exists"},
        {"type": "schema_validation", "schema": {"items": {"type": "integer"}}},
    ):
        assert truth(joined("AND", child), numbers) is True
        assert failure(joined("AND", *[child] * 20), numbers) == "budget"


def nested(depth: int) -> Any:
    return joined("NOT", nested(depth - 1)) if depth else "true"


def test_depth_and_number_of_children_are_bounded():
    assert truth(nested(8)) is True
    (flaw,) = flaws(nested(9))
    assert flaw.code == "condition.too_big"
    assert truth(joined("AND", *["true"] * 64)) is True
    (flaw,) = flaws(joined("AND", *["true"] * 70))
    assert flaw.code == "condition.too_big"
    assert [flaw.code for flaw in flaws(nested(60))] == ["condition.too_big"]
