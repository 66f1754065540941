"""Expressions: what the compiled form of each is worth, and what has no value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from plait.dialects.afl.expressions.errors import ExpressionError
from plait.dialects.afl.expressions.evaluate import evaluate, holds
from plait.dialects.afl.language.compile import Compiled, compile_source
from plait.dialects.afl.language.source_file import SourceFile

STEP = {"n": 2, "none": None, "deep": {"list": [1, {"x": "y"}]}, "text": "abc"}


class Values:
    def input(self, name: str) -> Any:
        return {"n": 5, "none": None, "map": {"k": [1, 2, 3]}, "yes": True}[name]

    def step(self, reference: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"s": STEP}[reference["path"][0]]

    def variable(self, name: str) -> Any:
        return {"item": {"id": 7}}[name]


def compiled(text: str) -> dict[str, Any]:
    """The compiled form of an expression in a block with a step `s` and a foreach variable `item`."""
    source = f"""
    namespace a {{
        facet V(v: Json) => (n: Json, none: Json, deep: Json, text: Json, gone: Json)
        facet F(n: Json, none: Json, map: Json, yes: Json, gone: Json) andThen foreach item in $.map {{
            s = V()
            result = V(v = {text})
        }}
    }}"""
    found = compile_source([SourceFile("a.afl", source)], locations=False)
    assert isinstance(found, Compiled), found.diagnostics
    steps = found.program["declarations"][0]["declarations"][1]["body"]["steps"]
    return steps[1]["call"]["args"][0]["value"]


def worth(text: str) -> Any:
    return evaluate(compiled(text), Values())


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3", 7),
        ("9 / 4", 2.25),
        ("8 / 4", 2.0),
        ("-5 % 3", 1),
        ("5 % -3", -1),
        ("5.5 % 2", 1.5),
        ("1 - 2 - 3", -4),
        ("(1 + 2) * 3", 9),
        ("-9223372036854775808", -(2**63)),
        ("+$.n", 5),
        ("- $.n", -5),
        ("-1.5", -1.5),
        ('"a" ++ null ++ true ++ false ++ 1 ++ 1.0 ++ 0.1', "aTrueFalse11.00.1"),
        ('"" ++ [1, "x", null] ++ #{a: true}', '[1,"x",null]{"a":true}'),
        ("1 ++ 2 + 3", "15"),
        ("1 == 1.0", True),
        ("true == 1", False),
        ("false != 0", True),
        ("[1, #{a: 2.0}] == [1.0, #{a: 2}]", True),
        ("[true] == [1]", False),
        ("null == null", True),
        ('"a" < "b"', True),
        ("1.5 >= 1", True),
        ('"Z" < "a"', True),
        ("null || true", True),
        ("!null", True),
        ("false && $.none", False),
        ("true || 1 / 0 == 1", True),
        ("false && 1 / 0 == 1", False),
        ("[10, 20][-1]", 20),
        ("$.map.k[1]", 2),
        ('$.map["k"]', [1, 2, 3]),
        ("s.n", 2),
        ("s.none", None),
        ("s.deep.list[1].x", "y"),
        ("s", STEP),
        ("item.id", 7),
        ("item", {"id": 7}),
        ("2 in [1, 2.0]", True),
        ('"k" in $.map', True),
        ('"b" in s.text', True),
        ("1 not in [true]", True),
        ('s.text contains "bc"', True),
        ('s.text startsWith "ab" && s.text endsWith "bc"', True),
        ("[]", []),
        ("#{}", {}),
        ('#{"a b": [1], c: null}', {"a b": [1], "c": None}),
    ],
)
def test_an_expression_has_its_value(text: str, value: object) -> None:
    found = worth(text)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("$.none + 1", "AFL_EVALUATION", "'+' needs numbers, got null"),
        ("$.yes * 2", "AFL_EVALUATION", "'*' needs numbers, got a boolean"),
        ("1 / 0", "AFL_EVALUATION", "Division by zero"),
        ("1 % 0.0", "AFL_EVALUATION", "Division by zero"),
        ("9223372036854775807 + 1", "AFL_EVALUATION", "The result of '+' has more than 64 bits"),
        ("9223372036854775808", "AFL_EVALUATION", "has more than 64 bits"),
        ("1.0e308 * 10", "AFL_EVALUATION", "The result of '*' is too large"),
        ("1.0e308 / 1.0e-10", "AFL_EVALUATION", "The result of '/' is too large"),
        ("s.n < s.text", "AFL_EVALUATION", "'<' needs two numbers or two strings, got a number and a string"),
        ("s.none < 1", "AFL_EVALUATION", "'<' needs two numbers or two strings"),
        ("s.n && true", "AFL_EVALUATION", "'&&' needs true or false, got a number"),
        ("$.gone", "AFL_REFERENCE", "Input parameter 'gone' not found"),
        ("s.gone", "AFL_REFERENCE", "Attribute 'gone' not found on step 's'"),
        ("$.map.gone", "AFL_REFERENCE", "Property 'gone' not found"),
        ("s.none.x", "AFL_REFERENCE", "Cannot access property on null"),
        ("$.none[0]", "AFL_REFERENCE", "Cannot access property on null"),
        ("[1][1]", "AFL_REFERENCE", "Index 1 is not in a list of 1"),
        ('[1]["a"]', "AFL_EVALUATION", "A list is read by an integer"),
        ("[1][$.yes]", "AFL_EVALUATION", "A list is read by an integer, not by a boolean"),
        ("s.n[0]", "AFL_EVALUATION", "A number has nothing to read by index"),
        ("s.none in s.text", "AFL_EVALUATION", "'in' can't look for null in a string"),
        ("s.n startsWith s.text", "AFL_EVALUATION", "'startsWith' needs two strings"),
    ],
)
def test_an_expression_without_a_value_says_why(text: str, code: str, message: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        worth(text)
    assert (caught.value.code, message in str(caught.value)) == (code, True), caught.value


def test_a_condition_takes_null_for_false_and_nothing_else() -> None:
    assert not holds(compiled("s.none"), Values())
    assert holds(compiled("$.yes"), Values())
    with pytest.raises(ExpressionError, match="needs true or false, got a number"):
        holds(compiled("s.n"), Values())
