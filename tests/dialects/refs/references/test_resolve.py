"""What references are replaced by."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.dialects.refs.references.resolve import MAX_BYTES, Scope, resolve

SCOPE = Scope(
    input={"name": "Ann", "n": 3, "pi": 3.0, "big": 1e20, "list": [1, {"x": None}], "yes": True, "none": None},
    outputs={"user": {"id": 42, "tags": ["a"], "2fa": "on"}, "skipped": None, "text": "abc"},
    item={"sku": "tea"},
    index=0,
    ctx={"execution_id": "r1", "depth": 0},
)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("@input.n", 3),
        ("@input", SCOPE.input),
        ("@user.id", 42),
        ("@user.tags[0]", "a"),
        ("@user.tags.0", "a"),
        ('@{user["2fa"]}', "on"),
        ("@item.sku", "tea"),
        ("@index", 0),
        ("@ctx.execution_id", "r1"),
        ("@input.none", None),
        ("@skipped", None),
        ("@skipped.deep.path", None),
        ("Hi @input.name, no. @input.n", "Hi Ann, no. 3"),
        ("@input.pi and @input.big", "3 and 1e20"),
        ("is @input.yes: @input.none.", "is true: ."),
        ("got @input.list", 'got [1,{"x":null}]'),
        ("v@{input.n}x", "v3x"),
        (" @user.id", " 42"),
        ("@@user.id", "@user.id"),
        ("@nobody says @nothing", "@nobody says @nothing"),
        ("ann@input.com", "ann@input.com"),
        (17, 17),
        (None, None),
        ({"@user": "@user.id"}, {"@user": 42}),
    ],
)
def test_references_give_values(value: Any, found: Any) -> None:
    assert resolve(value, SCOPE) == (found, [], False)


@pytest.mark.parametrize(
    ("value", "found", "unresolved"),
    [
        ({"a": "@input.nope", "b": 1}, {"b": 1}, ["@input.nope"]),
        (["@input.nope", 1], [None, 1], ["@input.nope"]),
        ("@input.nope", None, ["@input.nope"]),
        ("so @input.nope it is", "so @input.nope it is", ["@input.nope"]),
        ({"a": ["@text.x", "@text[0]", "@user.tags.word", "@user.tags[9]"]}, {"a": [None] * 4}, None),
        ({"a": "@user.x", "b": "@user.x"}, {}, ["@user.x"]),
    ],
)
def test_what_is_missing_is_left_out_and_listed(value: Any, found: Any, unresolved: list[str] | None) -> None:
    result = resolve(value, SCOPE)
    assert result.value == found
    assert unresolved is None or result.unresolved == unresolved


_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.sampled_from(["@a", "@a.x", "text @b.0", "@@a", "@{a.x}", "@input", "x@a.b"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)


@given(value=_json, input=_json, a=_json, b=_json)
def test_the_resolver_never_raises(value: Any, input: Any, a: Any, b: Any) -> None:
    resolve(value, Scope(input=input, outputs={"a": a, "b": b}))


@given(_json)
def test_values_keep_their_type_and_are_not_scanned_again(value: Any) -> None:
    found = resolve({"whole": "@a", "list": ["@a"]}, Scope(outputs={"a": value}))
    assert found.value == {"whole": value, "list": [value]}
    assert type(found.value["whole"]) is type(value)


@given(st.text())
def test_a_text_put_into_a_text_is_not_scanned_again(text: str) -> None:
    assert resolve("<@{a}>", Scope(outputs={"a": text, "b": 1})).value == f"<{text}>"


def test_one_large_value_named_often_is_too_large_and_costs_no_memory() -> None:
    found = resolve(["@a"] * 100, Scope(outputs={"a": "x" * (MAX_BYTES // 10)}))
    assert found.too_large
