"""Where CEL of Google's library and ours mean the same, they say the same."""

from __future__ import annotations

from typing import Any

import pytest
from cel_expr_python import cel  # pyright: ignore[reportMissingTypeStubs]
from hypothesis import given
from hypothesis import strategies as st

from plait import conditions

_NUMBERS = st.integers(-50, 50).map(str)
_STRINGS = st.sampled_from(["''", "'a'", "'ab'", "'b'"])
_NUMERIC = st.recursive(
    st.one_of(_NUMBERS, st.just("output.n"), st.just("output.l[0]"), st.just("size(output.l)")),
    lambda inner: st.tuples(inner, st.sampled_from(["+", "-", "*", "%"]), inner).map(
        lambda found: f"({' '.join(found)})"
    ),
    max_leaves=4,
)
_COMPARISONS = st.one_of(
    st.tuples(_NUMERIC, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), _NUMERIC).map(" ".join),
    st.tuples(_STRINGS, st.sampled_from(["<", "==", "!=", ">="]), _STRINGS).map(" ".join),
    st.tuples(_NUMERIC, st.just("in output.l")).map(" ".join),
    st.sampled_from(["has(output.n)", "has(output.m)", "output.s.contains('b')", "output.s.matches('^a')", "true"]),
    st.sampled_from(["output.m == 1", "1 / 0 == 1", "output.l[9] == 1"]),
)
_EXPRESSIONS = st.recursive(
    _COMPARISONS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["&&", "||", "=="]), inner).map(lambda found: f"({' '.join(found)})"),
        st.tuples(inner, inner, inner).map(lambda found: f"({found[0]} ? {found[1]} : {found[2]})"),
        inner.map(lambda found: f"!({found})"),
        inner.map(lambda found: f"output.l.all(x, x > 1 || {found})"),
        inner.map(lambda found: f"output.l.exists(x, x == 2 && {found})"),
    ),
    max_leaves=5,
)
_OUTPUT: dict[str, Any] = {"n": 3, "l": [1, 2, 3], "s": "ab"}
_environment = cel.NewEnv()


def reference(expression: str) -> bool | None:
    """True, false, or None for an error."""
    found = _environment.compile(expression, disable_check=True).eval(data={"output": _OUTPUT})
    return found.value() if found.type() == cel.Type.BOOL else None


@given(_EXPRESSIONS)
def test_both_say_the_same(expression: str):
    assert conditions.compile(expression).evaluate(_OUTPUT).value == reference(expression)


@pytest.mark.parametrize("expression", ["1 + 1.5 == 2.5", "7 / 2 == 3.5"])
def test_numbers_are_where_we_differ_on_purpose(expression: str):
    assert conditions.compile(expression).evaluate().value is True
    assert reference(expression) is not True
