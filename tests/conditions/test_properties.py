"""Whatever is written and whatever it is evaluated on: compiling gives a form or flaws, evaluating gives a verdict."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from plait import conditions
from plait.conditions import Condition, InvalidCondition, Verdict
from tests.conditions.judging import FLAWS, PROBLEMS

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6)
)
keys = st.sampled_from(["a", "b", "x", "output", "n-1"]) | st.text(max_size=4)
json = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4), max_leaves=12
)

atoms = st.sampled_from(
    [
        "output",
        "$",
        "$.a",
        "ctx.a.output",
        "ctx['n-1']",
        "current.output.b",
        "input",
        "1",
        "0",
        "1.5",
        "-3",
        "'a'",
        "true",
        "null",
        "[1, 'a']",
        "{'a': 1}",
        "has(output.a)",
        "9223372036854775807",
        "1e308",
        "current.metadata",
    ]
)
operators = st.sampled_from(["+", "-", "*", "/", "%", "<", "<=", "==", "!=", "in", "&&", "||"])
functions = st.sampled_from(
    ["size({})", "string({})", "int({})", "double({})", "bool({})", "!({})", "-({})", "({}).a", "({})[0]"]
)
methods = st.sampled_from(["all", "exists", "exists_one", "filter", "map"])
expressions = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.tuples(inner, operators, inner).map(lambda found: "({} {} {})".format(*found)),
        st.tuples(functions, inner).map(lambda found: found[0].format(found[1])),
        st.tuples(inner, methods, inner).map(lambda found: "({}).{}(v, {} == v)".format(*found)),
        st.tuples(inner, st.sampled_from(["contains", "startsWith", "matches"]), inner).map(
            lambda found: "({}).{}({})".format(*found)
        ),
        st.tuples(inner, inner, inner).map(lambda found: "({} ? {} : {})".format(*found)),
    ),
    max_leaves=8,
)
queries = st.sampled_from(
    ["$", "$.a", "$..a", "$[*]", "$[0]", "$[?@.a > 1]", "$.a.length()", "$[*].length()", "$[?search(@, 'a')]", "$..*"]
)
comparisons = st.sampled_from(
    [
        "exists",
        "not_exists",
        ">",
        "<=",
        "==",
        "!=",
        "in",
        "not_in",
        "contains",
        "sum_gt",
        "avg_lt",
        "min_eq",
        "count_gte",
    ]
)
sides = st.one_of(
    json.map(lambda value: {"value": value}),
    st.sampled_from(["output", "output.a", "metadata.x", "output[0].b"]).flatmap(
        lambda path: st.sampled_from(
            [{"source": "current", "path": path}, {"source": "context", "node": "a", "path": path}]
        )
    ),
)
schemas = st.sampled_from(
    [True, {"type": "object"}, {"items": {"$ref": "#"}}, {"pattern": "^a"}, {"additionalProperties": {"minimum": 1}}]
)
leaves = st.one_of(
    expressions,
    expressions.map(lambda text: {"type": "cross_node_comparison", "expression": text}),
    st.fixed_dictionaries(
        {"type": st.just("jsonpath"), "query": queries, "operator": comparisons}, optional={"value": json}
    ),
    st.fixed_dictionaries({"type": st.just("schema_validation"), "schema": schemas, "invert": st.booleans()}),
    st.fixed_dictionaries(
        {
            "type": st.just("cross_node_comparison"),
            "left": sides,
            "operator": st.sampled_from([">", "<=", "==", "in", "not_in", "contains"]),
            "right": sides,
        }
    ),
    st.tuples(st.sampled_from(["@a.x", "@input.a", "@n-1"]), st.sampled_from(["eq", "gt", "lte", "in"]), json).map(
        lambda found: {"type": "when", "ref": found[0], found[1]: found[2]}
    ),
    st.just({"type": "python_sandbox", "code": "def evaluate(a, b): return True"}),
)
written = st.recursive(
    leaves,
    lambda inner: st.fixed_dictionaries(
        {
            "type": st.just("composite"),
            "operator": st.sampled_from(["AND", "or", "NOT"]),
            "conditions": st.lists(inner, min_size=1, max_size=3),
        }
    ),
    max_leaves=5,
)


def compiled(condition: Any) -> Condition | None:
    try:
        return conditions.compile(condition, "/here", nodes=["a", "n-1"])
    except InvalidCondition as error:
        flaws = error.flaws
    assert flaws
    for flaw in flaws:
        assert flaw.code.removeprefix("condition.") in FLAWS
        assert flaw.pointer.startswith("/here")
        assert flaw.message
    return None


def is_documented(verdict: Verdict) -> bool:
    if verdict.error is None:
        return verdict.value in (True, False)
    if verdict.error.soft:
        return verdict.value in (True, False) and verdict.error.code == "condition.missing_operand"
    return verdict.value is None and verdict.error.code.removeprefix("condition.") in PROBLEMS


@given(written, json, json, json)
def test_a_condition_has_a_documented_verdict_on_anything(condition: Any, output: Any, other: Any, input: Any):
    found = compiled(condition)
    if found is not None:
        ctx = {"a": {"output": other, "metadata": {"x": 1}}}
        verdict = found.evaluate(output, ctx, input)
        assert is_documented(verdict), verdict
        assert found.evaluate(output, ctx, input) == verdict


@given(json)
def test_any_json_compiles_or_has_flaws(condition: Any):
    compiled(condition)


@given(st.text(max_size=40))
def test_any_text_compiles_or_has_flaws(text: str):
    compiled(text)
    compiled({"type": "jsonpath", "query": text})
    compiled({"type": "python_sandbox", "code": text})
    compiled({"type": "when", "ref": text})
    compiled({"type": "cross_node_comparison", "left": {"source": "current", "path": text}, "operator": text})


@given(st.sampled_from(["cel", "schema_validation", "jsonpath", "cross_node_comparison", "composite"]), json, json)
def test_any_fields_compile_or_have_flaws(kind: str, one: Any, other: Any):
    names = (
        "expression",
        "schema",
        "schema_ref",
        "query",
        "operator",
        "value",
        "left",
        "right",
        "conditions",
        "invert",
    )
    compiled({"type": kind} | dict.fromkeys(names[::2], one) | dict.fromkeys(names[1::2], other))
    compiled({"type": kind, "schema": one, "query": other, "conditions": [one, other]})


@given(json)
def test_any_json_as_a_schema_is_bounded(document: Any):
    found = compiled({"type": "schema_validation", "schema": document})
    if found is not None:
        assert is_documented(found.evaluate(document))
