"""Conditions of the type `when`: a reference, at most one operator, and never an error."""

from __future__ import annotations

from typing import Any

import pytest

from plait import conditions
from tests.conditions.judging import flaws, truth

CTX: dict[str, Any] = {
    "a": {
        "output": {"n": 1, "zero": 0, "text": "0", "none": None, "no": False, "list": [], "map": {}, "deep": [{"x": 5}]}
    }
}


def when(ref: str, **operator: Any) -> dict[str, Any]:
    return {"type": "when", "ref": ref} | operator


@pytest.mark.parametrize(
    ("ref", "expected"),
    [
        ("@a.n", True),
        ("@a.zero", False),
        ("@a.text", True),
        ("@a.none", False),
        ("@a.no", False),
        ("@a.list", True),
        ("@a.map", True),
        ("@a", True),
        ("@a.missing", False),
        ("@a.n.below", False),
        ("@a.deep[0].x", True),
        ("@a.deep.0.x", True),
        ("@a.deep[1].x", False),
        ("@never_ran.x", False),
        ("@input.on", True),
        ("@input", True),
        ("@input.empty", False),
    ],
)
def test_without_an_operator_the_value_decides(ref: str, expected: bool):
    assert truth(when(ref), None, CTX, {"on": 1, "empty": ""}) is expected


@pytest.mark.parametrize(
    ("operator", "operand", "value", "expected"),
    [
        ("eq", 1, 1.0, True),
        ("eq", 1, True, False),
        ("eq", None, None, True),
        ("eq", {"a": [1]}, {"a": [1.0]}, True),
        ("neq", 1, 2, True),
        ("neq", None, None, False),
        ("gt", 1, 2, True),
        ("gt", 1, "2", False),
        ("gt", 0, True, False),
        ("lt", 3, 2.5, True),
        ("lt", "b", "a", False),
        ("gte", 2, 2, True),
        ("lte", 2, 2.5, False),
        ("exists", True, 0, True),
        ("exists", True, None, False),
        ("exists", False, None, True),
        ("in", [1, "a"], "a", True),
        ("in", [], "a", False),
        ("in", [1], True, False),
    ],
)
def test_an_operator_compares_with_its_operand(operator: str, operand: Any, value: Any, expected: bool):
    assert truth(when("@input.x", **{operator: operand}), None, {}, {"x": value}) is expected


def test_a_missing_path_counts_as_null():
    assert truth(when("@a.gone.far", eq=None), None, CTX) is True
    assert truth(when("@a.gone", neq=1), None, CTX) is True
    assert truth(when("@a.gone", exists=False), None, CTX) is True


def test_operands_are_never_resolved():
    assert truth(when("@input.x", eq="@a.n"), None, CTX, {"x": "@a.n"}) is True


@pytest.mark.parametrize(
    ("condition", "pointer", "message"),
    [
        (when("@a.n", gt=1, lt=5), "", "`when` takes one operator, got gt, lt"),
        (when("a.n"), "/ref", "write @node.path or @input.path"),
        (when("@"), "/ref", "is no reference"),
        (when("@a..b"), "/ref", "is no reference"),
        (when("@a b"), "/ref", "is no reference"),
        (when("@@a"), "/ref", "is no reference"),
        (when("@a", exists=1), "/exists", "`exists` takes true or false"),
        (when("@a", **{"in": 1}), "/in", "`in` takes a list"),
        (when("@a", equals=1), "/equals", "unknown field `equals`"),
        ({"type": "when"}, "", "`ref` is missing"),
    ],
)
def test_what_can_not_be_used_is_refused(condition: Any, pointer: str, message: str):
    (flaw,) = flaws(condition)
    assert (flaw.code, flaw.pointer) == ("condition.bad_shape", pointer)
    assert message in flaw.message


def test_an_unknown_step_is_refused():
    (flaw,) = flaws(when("@scor.x"), nodes=["score"])
    assert flaw.code == "condition.unknown_node"
    assert flaw.message == "condition reads `@scor`, no such node; nearest: score"
    assert conditions.compile(when("@input.x"), nodes=[]).reads == frozenset()
