"""CEL: the language as people write it, with one type of number."""

from __future__ import annotations

from typing import Any

import pytest

from plait import conditions
from tests.conditions.judging import failure, flaws, judged, refusal, truth

OUTPUT = {"score": 85, "tier": "gold", "items": [1, 2, 3], "nested": {"a": [{"b": "x"}]}, "nothing": None, "ok": True}
CTX = {
    "enrich_data": {"output": {"revenue": 120_000}, "metadata": {"attempt": 2}},
    "node-1": {"output": {"n": 1}, "metadata": {}},
}


@pytest.mark.parametrize(
    "expression",
    [
        "output.score >= 80 && ctx.enrich_data.output.revenue > 100000",
        "output.tier == 'gold' || false",
        'output.tier == "gold"',
        "!(output.score < 80)",
        "output.score + 5 == 90 && output.score - 5 == 80 && output.score * 2 == 170 && output.score % 2 == 1",
        "'gold' in ['gold', 'silver'] && !('iron' in ['gold'])",
        "'score' in output",
        "(output.ok ? 1 : 2) == 1",
        "output.items[0] == 1 && output.nested.a[0].b == 'x' && output['score'] == 85",
        "[1, 2] == [1, 2] && {'a': 1} == {'a': 1}",
        "'golden'.contains('old') && 'golden'.startsWith('go') && 'golden'.endsWith('en')",
        "output.items.all(x, x > 0) && output.items.exists(x, x == 3) && output.items.exists_one(x, x == 3)",
        "output.items.filter(x, x > 1) == [2, 3] && output.items.map(x, x * 2) == [2, 4, 6]",
        "output.items.map(x, x > 1, x * 10) == [20, 30]",
        "output.nested.all(key, key == 'a')",
        "has(output.score) && !has(output.scor)",
        "size(output.items) == 3 && output.items.size() == 3 && size('héé') == 3 && size(output.nested) == 1",
        "'order-17'.matches('^order-[0-9]+$') && !'a'.matches('b')",
        "string(1) == '1' && string(true) == 'true' && int('7') == 7 && int(2.9) == 2 && double('1.5') == 1.5",
        "bool('true') && !bool('false')",
        "ctx['node-1'].output.n == 1 && ctx.`node-1`.output.n == 1",
        "current.output.score == 85 && current.metadata.attempt == 4",
        "input.limit == 10",
        "output.nothing == null && !(output.nothing == 0) && !(output.nothing == false)",
        "output.items.exists(x, output.items.all(y, y <= x))",
    ],
)
def test_what_is_true(expression: str):
    condition = conditions.compile(expression)
    found = condition.evaluate(OUTPUT, CTX, {"limit": 10}, metadata={"attempt": 4})
    assert found == conditions.Verdict(True)


@pytest.mark.parametrize(
    "expression",
    [
        "1 == 1.0",
        "1 + 0.5 == 1.5",
        "0.5 + 0.5 == 1",
        "(120-100)/100 > 0.1",
        "7 / 2 == 3.5",
        "9007199254740993 / 1 == 9007199254740993",
        "4.0 % 2 == 0",
        "-7 % 3 == -1",
        "[10, 20][1.0] == 20",
        "1 in [1.0]",
        "string(4 / 2) == '2' && string(2.0) == '2' && string(2.5) == '2.5'",
        "double(1) == 1 && int(1.0) == 1",
        "2 > 1.5 && 1.5 < 2",
        "1u + 1 == 2",
    ],
)
def test_integers_and_fractions_are_one_type(expression: str):
    assert truth(expression) is True


@pytest.mark.parametrize(
    "expression",
    ["1 == '1'", "true == 1", "false == 0", "null == 0", "[1] == 1", "{'a': 1} == ['a']", "'1' in [1]", "true in [1]"],
)
def test_equality_between_types_is_false_and_no_error(expression: str):
    assert truth(expression) is False


@pytest.mark.parametrize(
    ("expression", "code"),
    [
        ("1 / 0 > 1", "div_zero"),
        ("1 % 0 > 1", "div_zero"),
        ("1.5 / 0.0 > 1", "div_zero"),
        ("9223372036854775807 + 1 > 0", "overflow"),
        ("-9223372036854775807 - 2 < 0", "overflow"),
        ("9223372036854775807 * 2 > 0", "overflow"),
        ("1e308 * 10 > 0", "overflow"),
        ("int('9223372036854775808') > 0", "overflow"),
        ("double('1e999') > 0", "overflow"),
        ("1 < 'a'", "type_mismatch"),
        ("null < 1", "type_mismatch"),
        ("[1] < [2]", "type_mismatch"),
        ("true + 1 == 2", "type_mismatch"),
        ("1.5 % 2 == 1", "type_mismatch"),
        ("1 in 'abc'", "type_mismatch"),
        ("'a' && true", "type_mismatch"),
        ("!1", "type_mismatch"),
        ("(1 ? true : false)", "type_mismatch"),
        ("-'a' == 1", "type_mismatch"),
        ("int('x') == 1", "type_mismatch"),
        ("int('1_000') == 1000", "type_mismatch"),
        ("bool('yes')", "type_mismatch"),
        ("string([1]) == ''", "type_mismatch"),
        ("size(1) == 1", "type_mismatch"),
        ("'abc'.matches(output.bad)", "type_mismatch"),
        ("output.l.all(x, x)", "type_mismatch"),
        ("5.all(x, true)", "type_mismatch"),
        ("output.missing == 1", "no_such_field"),
        ("output['missing'] == 1", "no_such_field"),
        ("output.l.field == 1", "no_such_field"),
        ("ctx.never.output == 1", "no_such_field"),
        ("output.l[2] == 1", "out_of_range"),
        ("output.l[-1] == 1", "out_of_range"),
        ("output.l['0'] == 1", "type_mismatch"),
        ("output.l[0.5] == 1", "type_mismatch"),
        ("output.l", "not_boolean"),
        ("1", "not_boolean"),
        ("'true'", "not_boolean"),
        ("null", "not_boolean"),
    ],
)
def test_what_has_no_value_says_why(expression: str, code: str):
    assert failure(expression, {"l": [1, 2], "bad": "("}) == code


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("false && output.missing == 1", False),
        ("output.missing == 1 && false", False),
        ("true || output.missing == 1", True),
        ("output.missing == 1 || true", True),
        ("1 && false", False),
        ("1 || true", True),
        ("[1, 0].all(x, 1 / x > 5)", False),
        ("[0, 1].all(x, 1 / x > 5)", False),
        ("[0, 1].exists(x, 1 / x == 1)", True),
    ],
)
def test_an_error_does_not_matter_where_the_other_side_decides(expression: str, value: bool):
    assert truth(expression, {}) is value


@pytest.mark.parametrize(
    "expression",
    [
        "true && output.missing == 1",
        "output.missing == 1 && true",
        "false || output.missing == 1",
        "output.missing == 1 || false",
        "output.missing == 1 || output.gone == 2",
        "[1].all(x, output.missing == x)",
        "[1].exists(x, output.missing == x)",
    ],
)
def test_an_error_stands_where_nothing_decides(expression: str):
    assert failure(expression, {}) == "no_such_field"


def test_a_root_stands_for_the_output_but_not_in_a_string():
    assert truth("$.score > 80 && $['tier'] == 'gold'", OUTPUT) is True
    assert truth("'$.score' == output.text && $.text == r'$.score' // $.score", {"text": "$.score"}) is True
    assert truth("size($) == 2", [1, 2]) is True


def test_a_missing_field_names_the_place_and_what_is_there():
    found = conditions.compile("output.scor > 80").evaluate({"score": 1, "tier": "a"}, node="score")
    assert found.error is not None
    assert found.error.message == "no field `scor` in output of `score`; it has: score, tier"
    inside = judged("ctx.enrich.output.revnue > 1", ctx={"enrich": {"output": {"revenue": 1}}})
    assert inside.error is not None
    assert inside.error.message == "no field `revnue` in output of `enrich`; it has: revenue"


def test_no_message_shows_a_value():
    secret = {"card": "4111-1111", "list": ["4111-1111"]}
    for expression in (
        "output.card > 1",
        "int(output.card) > 1",
        "output.card.x",
        "output.list[7] == 1",
        "output.card",
    ):
        found = judged(expression, secret)
        assert found.error is not None
        assert "4111" not in found.error.message


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("output.score >=", "invalid condition at column 15 of `output.score >=`: it ends early"),
        ("", "invalid condition at column 1 of ``: it ends early"),
        ("output.a output.b", "invalid condition at column 10 of `output.a output.b`: unexpected `output`"),
        ("$.a + $.b >", "invalid condition at column 11 of `$.a + $.b >`: it ends early"),
        ("$.a == 1 &&\n  $.b ==== 2", "invalid condition at column 21"),
        ("outptu.x > 1", "unknown name `outptu`; did you mean `output`?"),
        ("$.a > 1 && outptu.x > 1", "at column 12"),
        ("output.a.sice() > 1", "unknown function `sice`; did you mean `size`?"),
        ("timestamp('2020-01-01') > 1", "unknown function `timestamp`"),
        ("size(1, 2) > 1", "`size` is not called like this; write size(value)"),
        ("'a'.matches('(')", "this is not a regular expression"),
        (f"'a'.matches('{'a' * 1001}')", "1,001 characters, 1,000 are allowed"),
        ("has(output)", "has() argument must be a field selection"),
        ("output.all(1, true)", "variable name must be a simple identifier"),
        ("output.all(ctx, true)", "`ctx` is a name already"),
        ("99999999999999999999 > 1", "invalid int literal"),
        ("1e999 > 1", "this number is not finite"),
        ("b'a' == 1", "bytes are no JSON value"),
        ("Order{id: 1} == 1", "there is no type `Order`"),
        ("{1: 2} == 1", "the keys of a map are literal strings"),
        ("a$.b > 1", "invalid condition at column 2"),
    ],
)
def test_a_text_that_is_no_condition_is_refused_with_its_place(expression: str, message: str):
    code, text = refusal(expression)
    assert code == "syntax"
    assert message in text


@pytest.mark.parametrize(
    "expression",
    [
        "x" * 5210,
        " && ".join(["output.a.b.c.d"] * 120),
        "(" * 33 + "true" + ")" * 33,
        "[" * 40 + "]" * 40,
        "+".join(["1"] * 60) + " > 0",
    ],
)
def test_an_expression_has_a_size(expression: str):
    (flaw,) = flaws(expression)
    assert flaw.code == "condition.too_big"


def test_the_limit_of_characters_is_told():
    assert refusal("x" * 5210)[1].startswith("condition is 5,210 characters, limit 4,096")


def test_the_nodes_that_it_reads_are_known():
    condition = conditions.compile("ctx.a.output.x > 1 && has(ctx.b) && ctx['node-1'].output == 2 && output.ctx == 3")
    assert condition.reads == {"a", "b", "node-1"}
    assert not condition.reads_all
    assert conditions.compile("ctx[input.which].output > 1").reads_all
    assert conditions.compile("size(ctx) > 1").reads_all
    assert not conditions.compile("output.x > 1").reads_all


def test_an_unknown_node_is_refused_with_the_nearest():
    found = refusal("ctx.enrich.output.x > 1", nodes=["enrich_data", "score"])
    assert found == ("unknown_node", "condition reads `ctx.enrich`, no such node; nearest: enrich_data")


def test_macros_keep_their_variables_apart():
    nested: Any = {"rows": [[1, 2], [3, 4]]}
    assert truth("output.rows.all(x, x.exists(y, y > x[0]) && x[0] > 0)", nested) is True
    assert truth("output.rows.map(x, x.map(x, x + 1)) == [[2, 3], [4, 5]]", nested) is True
