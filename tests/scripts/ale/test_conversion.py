"""Values on their way in from JSON and out to it."""

from __future__ import annotations

import pytest

from plait.scripts.ale import AleError, Script

COMING_IN = [
    (None, "()"),
    (True, "#t"),
    (5, "5"),
    (5.0, "5.0"),
    ("text", '"text"'),
    ([1, [2], []], "[1 [2] []]"),
    ((1, 2), "[1 2]"),
    ({"b": 1, "a": {"c": None}}, "{:a {:c ()} :b 1}"),
    (2**100, str(2**100)),
]
GOING_OUT = [
    ("null", None),
    ("#t", True),
    (":name", "name"),
    ("'name", "name"),
    ("12", 12),
    ("1.5", 1.5),
    ("1/2", 0.5),
    ("'(1 2)", [1, 2]),
    ("[1 [2]]", [1, [2]]),
    ("#{1 2}", [1, 2]),
    ("(map inc [1 2])", [2, 3]),
    ("[(range 2)]", [[0, 1]]),
    ("{:a 1 :b {:c []}}", {"a": 1, "b": {"c": []}}),
    ('{"a" 1 2 3 \'c 4 1/2 5 null 6 #t 7}', {"a": 1, "2": 3, "c": 4, "1/2": 5, "()": 6, "#t": 7}),
    ("{:a (range 2)}", {"a": [0, 1]}),
    ('"grüße"', "grüße"),
]
REFUSED = [
    ("'(1 . 2)", "cannot convert pair to JSON"),
    ("[(cons 1 2)]", "cannot convert pair to JSON"),
    ("(seq->vector {:a 1})", "cannot convert pair to JSON"),
    ("inc", "cannot convert procedure to JSON"),
    ("(lambda () 1)", "cannot convert procedure to JSON"),
    ("nan", "cannot convert NaN to JSON"),
    ("[+inf]", "cannot convert infinity to JSON"),
    ('{:a 1 "a" 2}', "cannot convert object to JSON: two keys are a"),
]


@pytest.mark.parametrize(("value", "shown"), COMING_IN)
def test_a_json_value_becomes_a_value_of_ale(value: object, shown: str):
    assert Script("x", ["x"]).show({"x": value}) == shown


@pytest.mark.parametrize(("text", "value"), GOING_OUT)
def test_a_value_of_ale_becomes_a_json_value(text: str, value: object):
    result = Script(text).call()
    assert result == value
    assert type(result) is type(value)


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_what_json_has_no_place_for_is_refused(text: str, message: str):
    with pytest.raises(AleError) as caught:
        Script(text).call()
    assert (caught.value.message, caught.value.code) == (message, "ale.not_json")


def test_objects_keep_the_order_of_their_keys():
    script = Script("(assoc* x [:c 3] [:a 9])", ["x"])
    assert list(script.call({"x": {"b": 1, "a": 2}}).items()) == [("b", 1), ("a", 9), ("c", 3)]


def test_sets_keep_the_order_of_their_elements():
    assert Script("(conj #{3 1} 2)").call() == [3, 1, 2]


def test_inputs_are_never_changed():
    value = {"list": [1, 2], "object": {"a": 1}}
    Script("[(conj (:list x) 3) (assoc (:object x) [:b 2])]", ["x"]).call({"x": value})
    assert value == {"list": [1, 2], "object": {"a": 1}}


def test_what_can_not_be_stored_is_no_result():
    with pytest.raises(AleError, match="cannot convert string to JSON: a string holds a NUL character"):
        Script("x", ["x"]).call({"x": "a\0b"})


@pytest.mark.parametrize("value", [2**5000, "x" * 1_000_001, [0] * 1_000_001], ids=["integer", "string", "array"])
def test_an_input_over_a_limit_is_refused(value: object):
    with pytest.raises(AleError, match="too large"):
        Script("x", ["x"]).call({"x": value})


def test_an_input_that_is_not_json_is_refused():
    with pytest.raises(AleError, match="cannot convert bytes from JSON"):
        Script("x", ["x"]).call({"x": b"raw"})


def test_an_input_that_holds_itself_is_refused():
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(AleError, match="value too large"):
        Script("x", ["x"]).call({"x": endless})
