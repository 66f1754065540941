"""Compiling: flaws with their places, the cache, what a policy may use, and references to code."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from plait import conditions
from plait.conditions import Facts, InvalidCondition, Verdict
from plait.conditions.cache import Cache, Key
from tests.conditions.judging import failure, flaws, refusal

CODE = "def evaluate(output, context):\n    return True\n"
REF = "cas://sha256:python_evaluator"


def sandbox(**fields: Any) -> dict[str, Any]:
    return {"type": "python_sandbox"} | fields


def test_an_unknown_type_lists_those_there_are():
    code, message = refusal({"type": "sel", "expression": "true"})
    assert code == "unknown_type"
    assert message.startswith('condition type "sel" is unknown; use cel, ')


@pytest.mark.parametrize("condition", [None, 5, True, [], ["true"], {}, {"type": None}, {"expression": "true"}])
def test_what_is_no_condition_has_a_bad_shape(condition: Any):
    assert refusal(condition)[0] == "bad_shape"


@pytest.mark.parametrize("kind", [5, [], {}, True])
def test_a_type_that_is_no_text_is_unknown(kind: Any):
    assert refusal({"type": kind})[0] == "unknown_type"


def test_an_unknown_field_gets_a_suggestion():
    found = flaws({"type": "cel", "expresion": "true"}, "/nodes/0/loop/condition")
    assert [(flaw.pointer, flaw.message) for flaw in found] == [
        ("/nodes/0/loop/condition/expresion", "unknown field `expresion`; did you mean `expression`?"),
        ("/nodes/0/loop/condition", "`expression` is missing; add it"),
    ]


def test_pointers_are_escaped():
    (flaw,) = flaws({"type": "cel", "expression": "true", "a/b~c": 1})
    assert flaw.pointer == "/a~1b~0c"


def test_the_error_names_the_first_flaw_and_says_how_many_there_are():
    with pytest.raises(InvalidCondition, match=r"unknown field `expresion`.*\(and 1 more\)") as caught:
        conditions.compile({"type": "cel", "expresion": "true"})
    assert caught.value.code == "condition.bad_shape"
    assert caught.value.status == 422


@pytest.mark.parametrize("value", [float("nan"), object(), "\ud800", {"type": "cel", "expression": "a\x00"}])
def test_what_is_no_json_is_refused(value: Any):
    assert flaws({"type": "when", "ref": "@a", "eq": value})[0].code.startswith("condition.")


# -- the cache ---------------------------------------------------------------------------------------------------------


def test_the_same_condition_is_compiled_once_wherever_it_stands_and_however_it_is_ordered():
    first = conditions.compile({"type": "cel", "expression": "output.cached == 1"}, "/a")
    again = conditions.compile({"expression": "output.cached == 1", "type": "cel"}, "/b")
    assert again is first


def test_flaws_have_the_place_of_each_use_though_the_form_is_cached():
    condition = "ctx.somewhere.output == 1"
    conditions.compile(condition, "/a")
    (flaw,) = flaws(condition, "/b", nodes=["elsewhere"])
    assert flaw.pointer == "/b"


def test_a_policy_and_a_node_do_not_share_a_form():
    conditions.compile("input.x == 1", place="policy")
    assert conditions.compile("input.x == 1").evaluate(input={"x": 1}).value is True
    conditions.compile("output.only_here == 1")
    assert refusal("output.only_here == 1", place="policy")[0] == "syntax"


def test_the_cache_is_bounded_and_drops_what_was_not_used_longest():
    cache = Cache(2)
    compiled = conditions.compile("true")
    keys: list[Key] = [("node", "cel", bytes([n])) for n in range(3)]
    cache.keep(keys[0], compiled)
    cache.keep(keys[1], compiled)
    cache.get(keys[0])
    cache.keep(keys[2], compiled)
    assert len(cache) == 2
    assert cache.get(keys[1]) is None
    assert cache.get(keys[0]) is compiled


def test_many_threads_compile_and_evaluate_at_once():
    def one(n: int) -> Verdict:
        condition = conditions.compile(f"output.n == {n % 50} && output.l.all(x, x < {n % 50})")
        return condition.evaluate({"n": n % 50, "l": list(range(n % 50))})

    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(one, range(2_000))) == {Verdict(True)}


# -- policies ----------------------------------------------------------------------------------------------------------


def test_a_policy_sees_the_emit():
    rule = conditions.compile("from_node == 'a' && to_node == 'b' && user.role == 'admin'", place="policy")
    facts = Facts({"from_node": "a", "to_node": "b", "user": {"role": "admin"}, "input": None})
    assert rule.judge(facts).value is True


@pytest.mark.parametrize(
    "condition",
    [
        sandbox(code=CODE),
        {"type": "jsonpath", "query": "$.a"},
        {"type": "schema_validation", "schema": {}},
        {"type": "cross_node_comparison", "expression": "true"},
    ],
)
def test_a_policy_uses_only_what_decides_at_once_without_an_output(condition: Any):
    assert refusal(condition, place="policy")[0] == "bad_shape"
    whole = {"type": "composite", "operator": "NOT", "conditions": [condition]}
    assert flaws(whole, place="policy")[0].pointer == "/conditions/0/type"


def test_a_policy_reads_no_nodes():
    assert refusal({"type": "when", "ref": "@a.x"}, place="policy")[0] == "unknown_node"


# -- python ------------------------------------------------------------------------------------------------------------


def test_python_needs_a_task_wherever_it_stands():
    plain = conditions.compile(sandbox(code=CODE))
    whole = {"type": "composite", "operator": "OR", "conditions": ["true", sandbox(code=CODE)]}
    assert plain.needs_task
    assert plain.reads_all
    assert conditions.compile(whole).needs_task
    assert not conditions.compile("true").needs_task


def test_python_never_runs_inside_a_decision():
    assert failure(sandbox(code=CODE)) == "sandbox_unavailable"


def test_code_may_be_stored_and_is_pinned():
    assert conditions.references(sandbox(code_ref=REF)) == {REF}
    compiled = conditions.compile(sandbox(code_ref=REF), blobs={REF: CODE.encode()})
    assert compiled is conditions.compile(sandbox(code=CODE))


@pytest.mark.parametrize(
    ("fields", "code", "pointer", "message"),
    [
        ({}, "bad_shape", "", "exactly one of `code` and `code_ref`"),
        ({"code": CODE, "code_ref": REF}, "bad_shape", "", "exactly one of `code` and `code_ref`"),
        ({"code_ref": REF}, "ref_missing", "/code_ref", "is not stored; upload it"),
        ({"code": 5}, "bad_shape", "/code", "`code` must be a string"),
        ({"code": "x = 1"}, "syntax", "/code", "the code defines no function `evaluate`"),
        ({"code": "def evaluate(output): return True"}, "syntax", "/code", "line 1: `evaluate` must take 2 arguments"),
        ({"code": "def evaluate(a, b):\n  return ("}, "syntax", "/code", "line 2: '(' was never closed"),
        ({"code": f"import os\n{CODE}"}, "syntax", "/code", "line 1: the sandbox has no imports"),
        ({"code": f"{CODE}    from os import path\n"}, "syntax", "/code", "line 3: the sandbox has no imports"),
        ({"code": CODE + "#" * 70_000}, "too_big", "/code", "limit 65,536"),
        ({"code": f"x = {'(' * 5000}"}, "syntax", "/code", ""),
        ({"code": CODE, "timeout_ms": 0}, "bad_shape", "/timeout_ms", "from 1 to 10,000"),
        ({"code": CODE, "timeout_ms": 10_001}, "bad_shape", "/timeout_ms", "from 1 to 10,000"),
        ({"code": CODE, "timeout_ms": True}, "bad_shape", "/timeout_ms", "from 1 to 10,000"),
        ({"code": CODE, "max_memory_mb": 513}, "bad_shape", "/max_memory_mb", "from 1 to 512"),
    ],
)
def test_code_that_can_not_be_used_is_refused(fields: Any, code: str, pointer: str, message: str):
    (flaw,) = flaws(sandbox(**fields))
    assert (flaw.code, flaw.pointer) == (f"condition.{code}", pointer)
    assert message in flaw.message
