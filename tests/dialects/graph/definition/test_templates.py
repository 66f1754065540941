"""Values with holes: filled with what the run knows, or refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.dialects.graph.definition.templates import BadTemplate, Scope, Unresolved, has_hole, parse

SCOPE = Scope(
    nodes={"charge": {"id": "ch_1", "amount": 5, "lines": [{"sku": "tea"}]}, "node-1": {"ok": True}, "none": None},
    input={"id": 42, "name": "Ann", "a b": 1},
    payload=[1, {"x": None}],
)


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("$nodes.charge.id", "ch_1"),
        ("$nodes.charge", SCOPE.nodes["charge"]),
        ("$nodes.charge.lines[0].sku", "tea"),
        ("$nodes.charge.lines.0.sku", "tea"),
        ("$nodes.node-1.ok", True),
        ("$nodes.none", None),
        ("$input", SCOPE.input),
        ('$input["a b"]', 1),
        ("$payload[1].x", None),
        ("Order ${input.id} of ${input.name}", "Order 42 of Ann"),
        ("${$input.id}", "42"),
        ("${ input.name }!", "Ann!"),
        ("${nodes.charge.lines}", '[{"sku":"tea"}]'),
        ("${payload[1].x}", "null"),
        ("$$5", "$5"),
        ("$$nodes.charge.id", "$nodes.charge.id"),
        ("$5", "$5"),
        ("$", "$"),
        ("$nodesx.a", "$nodesx.a"),
        ("$input is it", "$input is it"),
        ({"a": ["$input.id", {"b": "x"}], "c": 1}, {"a": [42, {"b": "x"}], "c": 1}),
        (7, 7),
        (None, None),
    ],
)
def test_a_template_becomes_its_value(template: Any, value: Any) -> None:
    assert parse(template).resolve(SCOPE) == value


@pytest.mark.parametrize(
    ("template", "why"),
    [
        ("$nodes.later.x", "`$nodes.later.x` finds nothing: node `later` has not run"),
        ("$nodes.charge.idd", "the output of `charge` has no `idd`; it has: id, amount, lines"),
        ("$nodes.charge.lines[3]", "the output of `charge` has 1 items there"),
        ("$input.name.first", "the input has nothing below `first`"),
        ("Dear ${payload.name}", "`${payload.name}` finds nothing: the payload has nothing below `name`"),
    ],
)
def test_a_hole_that_finds_nothing_says_what_is_there(template: str, why: str) -> None:
    with pytest.raises(Unresolved) as caught:
        parse(template).resolve(SCOPE)
    assert why in str(caught.value)


@pytest.mark.parametrize("template", ["${", "a ${input.x", "${foo.bar}", "${}", "$nodes", "${nodes}", "${input..x}"])
def test_what_can_not_be_parsed_is_refused_with_its_place(template: str) -> None:
    with pytest.raises(BadTemplate) as caught:
        parse({"to": [template]})
    assert caught.value.path == ("to", 0)
    assert caught.value.fix


def test_a_template_names_the_nodes_that_it_needs() -> None:
    assert parse({"a": "$nodes.x.y", "b": "${nodes.z} $$ ${input.q}"}).reads == {"x", "z"}


def test_a_value_without_holes_is_the_value_itself() -> None:
    value = {"a": [1, "two", {"three": 3}]}
    assert parse(value).resolve(SCOPE) is value


@given(st.text(alphabet="a$ {}.[]\"'1nodesinputpayload", max_size=20))
def test_any_text_is_parsed_or_refused_and_text_without_holes_is_kept(text: str) -> None:
    try:
        template = parse(text)
    except BadTemplate:
        assert has_hole(text)
        return
    if not template.holes:
        assert template.resolve(SCOPE) == text.replace("$$", "$")


@given(st.text(max_size=20))
def test_an_escaped_text_is_that_text(text: str) -> None:
    assert parse(text.replace("$", "$$")).resolve(SCOPE) == text
