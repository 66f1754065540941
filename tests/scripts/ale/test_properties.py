"""What holds for all values and all texts."""

from __future__ import annotations

import operator
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plait.scripts.ale import AleError, Limits, Script
from plait.scripts.ale.core import CORE
from plait.scripts.ale.environment import SPECIAL
from plait.scripts.ale.special import FORMS
from tests.support.effort import examples

QUICK = Limits(steps=20_000, seconds=600, depth=200, elements=2_000, memory=4_000_000)

names = st.from_regex(r"[a-zA-Z!?*<=>][a-zA-Z0-9!?*<=>+-]{0,6}", fullmatch=True).filter(
    lambda name: name not in SPECIAL
)
numbers = st.integers() | st.fractions() | st.floats(allow_nan=False)


@st.composite
def data(draw: st.DrawFn, depth: int = 3) -> str:
    """The text of a value, as a person might write it."""
    kinds = ["integer", "ratio", "float", "string", "keyword", "symbol", "boolean", "null"]
    kind = draw(st.sampled_from(kinds + ["list", "vector", "object", "set", "pair"] * (depth > 0)))
    parts = [draw(data(depth - 1)) for _ in range(draw(st.integers(0, 4)))] if depth else []
    match kind:
        case "integer":
            return str(draw(st.integers()))
        case "ratio":
            return str(draw(st.fractions()))
        case "float":
            return repr(draw(st.floats(allow_nan=False, allow_infinity=False)))
        case "string":
            return '"' + draw(st.text(max_size=8)).replace("\\", "\\\\").replace('"', '\\"') + '"'
        case "keyword":
            return ":" + draw(names)
        case "symbol":
            return draw(names)
        case "boolean":
            return draw(st.sampled_from(["#t", "#f"]))
        case "list":
            return f"({' '.join(parts)})"
        case "vector":
            return f"[{' '.join(parts)}]"
        case "object":
            return f"{{{' '.join(parts[: len(parts) // 2 * 2])}}}"
        case "set":
            return f"#{{{' '.join(parts)}}}"
        case "pair":
            return f"({' '.join(parts or ['1'])} . {draw(data(0))})"
        case _:
            return "()"


@given(data())
def test_what_is_printed_reads_back_as_the_same_value(text: str):
    shown = Script(f"'{text}").show()
    assert Script(f"'{shown}").show() == shown
    assert Script(f"(eq '{text} '{shown})").call() is True


@given(data(), data())
def test_equal_values_are_equal_keys_and_others_are_not(left: str, right: str):
    text = "(eq (eq '{0} '{1}) (contains? (set '{0}) '{1}))"
    assert Script(text.format(left, right)).call() is True
    assert Script(text.format(left, left)).call() is True


@given(st.sampled_from("+-*"), st.lists(st.integers(-(10**30), 10**30), min_size=1, max_size=5))
def test_integers_are_those_of_python(symbol: str, values: list[int]):
    total = values[0]
    operation = {"+": operator.add, "-": operator.sub, "*": operator.mul}[symbol]
    for value in values[1:]:
        total = operation(total, value)
    if symbol == "-" and len(values) == 1:
        total = -total
    assert Script(f"({symbol} {' '.join(map(str, values))})").show() == str(total)


@given(st.integers(), st.integers().filter(bool))
def test_division_is_exact_and_mod_has_the_sign_of_the_divisor(left: int, right: int):
    script = Script("[(/ a b) (mod a b) (* b (/ a b))]", ["a", "b"])
    assert script.show({"a": left, "b": right}) == f"[{Fraction(left, right)} {left % right} {left}]"


@given(numbers, numbers)
def test_comparisons_are_exact_across_kinds(left: int | float | Fraction, right: int | float | Fraction):
    shown = [str(value) if isinstance(value, Fraction) else repr(value) for value in (left, right)]
    a, b = (text.replace("inf", "+inf").replace("-+", "-") for text in shown)
    expected = [left < right, left <= right, left == right, left != right, left >= right, left > right]
    assert Script(f"[(< {a} {b}) (<= {a} {b}) (= {a} {b}) (!= {a} {b}) (>= {a} {b}) (> {a} {b})]").call() == expected


json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=10),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abcde", max_size=3), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(json)
def test_json_comes_out_as_it_went_in(value: object):
    assert Script("x", ["x"]).call({"x": value}) == value


words = st.sampled_from(
    [*CORE, *SPECIAL, *"xyn", "0", "1", "-2", "1/2", "2.5", '"ab"', ":k", "#t", "#f", "'x", "()", "."]
)


@st.composite
def programs(draw: st.DrawFn, depth: int = 4) -> str:
    """Something like a script, most often a wrong one."""
    if not depth or draw(st.booleans()):
        return draw(words)
    opening, closing = draw(st.sampled_from(["()", "()", "()", "[]", "{}"]))
    return opening + " ".join(draw(st.lists(programs(depth - 1), max_size=5))) + closing


def attempt(text: str) -> tuple[str, str]:
    try:
        return "value", Script(text, ["x", "y", "n"], QUICK).show({"x": 3, "y": [1, 2], "n": {"k": "v"}})
    except AleError as error:
        return error.code, str(error)


@pytest.mark.costly
@settings(max_examples=examples(300))
@given(programs())
def test_a_random_script_ends_with_a_value_or_an_error_of_ours_and_always_the_same(text: str):
    assert attempt(text) == attempt(text)


@settings(max_examples=examples(300))
@given(st.text() | st.text(alphabet="()[]{}'\"#|;.:`,@\\ \n+-/0123456789exb", max_size=60))
def test_a_random_text_ends_with_a_value_or_an_error_of_ours(text: str):
    attempt(text)


plain = ["0", "1", "-1", "3", "1/2", "2.5", "nan", "+inf", "null", "#t", "#f", ":k", "'a", '""', '"abc"', "inc", "+"]
built = ["[]", "[1 2]", "[[1 2]]", "'(1 2)", "'(1 . 2)", "{}", "{:k 1}", "#{1}", "(range)", "(range 3)", "(lambda r r)"]
arguments = st.sampled_from(plain + built)


@settings(max_examples=examples(600))
@given(st.sampled_from(sorted(CORE)), st.lists(arguments, max_size=4))
def test_every_core_function_takes_any_arguments_without_breaking(name: str, args: list[str]):
    attempt(f"({name} {' '.join(args)})")


def test_every_special_form_has_a_name_that_is_reserved():
    assert set(FORMS) == SPECIAL
