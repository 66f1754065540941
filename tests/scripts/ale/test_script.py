"""Compiled scripts as their users see them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from plait.scripts import ale
from plait.scripts.ale import AleError, Script


def test_a_predicate_sees_its_inputs_by_name():
    script = ale.compile("(> amount 100)", ["amount", "user"])
    assert script.holds({"amount": 120, "user": "ada"})
    assert not script.holds({"amount": 80, "user": "ada"})


@pytest.mark.parametrize(
    ("text", "held"), [("#f", False), ("0", True), ("null", True), ('""', True), ("(range)", True)]
)
def test_a_predicate_fails_only_for_false(text: str, held: bool):
    assert Script(text).holds() is held


def test_an_input_that_is_missing_is_null_and_one_too_many_is_ignored():
    assert Script("[a (null? b)]", ["a", "b"]).call({"a": 1, "c": 2}) == [1, True]


def test_a_parameter_hides_a_core_function():
    assert Script("(+ first 1)", ["first"]).call({"first": 1}) == 2


def test_named_outputs_are_an_object():
    script = Script("{:total (reduce + (map :price items)) :count (length items)}", ["items"])
    assert script.call({"items": [{"price": 2}, {"price": 3.5}]}) == {"total": 5.5, "count": 2}


def test_a_last_line_comment_is_harmless():
    assert Script("(+ 1 2) ; done").call() == 3


def test_names_with_dots_and_dashes_can_be_bound():
    assert Script("(+ unit.price order-total)", ["unit.price", "order-total"]).call(
        {"unit.price": 1, "order-total": 2}
    ) == 3  # fmt: skip


def test_nothing_of_one_call_is_seen_by_the_next():
    script = Script("(define all (conj [1 2] x)) (conj all x)", ["x"])
    assert [script.call({"x": n}) for n in (1, 2, 1)] == [[1, 2, 1, 1], [1, 2, 2, 2], [1, 2, 1, 1]]


def test_a_lazy_constant_of_one_call_does_not_fail_the_next():
    script = Script("(first (map (lambda (n) (/ 1 n)) x))", ["x"])
    with pytest.raises(AleError, match="divide by zero"):
        script.call({"x": [0]})
    assert script.call({"x": [1]}) == 1


def test_a_script_can_run_in_many_threads_at_once():
    script = Script("(reduce (lambda (v n) (conj v (* n x))) [0] (range 200))", ["x"])
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda x: script.call({"x": x}), range(64)))
    assert results == [[0, *(n * x for n in range(200))] for x in range(64)]


@pytest.mark.parametrize("text", ["(__import__ 1)", "print", "None", "__builtins__", "(eval 1)"])
def test_names_of_python_are_unknown(text: str):
    with pytest.raises(AleError, match="unknown name"):
        Script(text)


def test_attributes_of_python_objects_are_out_of_reach():
    assert Script('[(str "{0.__class__}" 1) (:__class__ {}) (get {} :__dict__ 0)]').call() == [
        "{0.__class__}1",
        None,
        0,
    ]
