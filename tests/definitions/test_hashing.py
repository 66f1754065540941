"""Content that says the same has the same hash, however it was typed."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.definitions.hashing import canonical, content_hash

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [True, None]}, '{"a":[true,null],"b":1}'),
        ({}, "{}"),
        ([], "[]"),
        (1.0, "1"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (1e-05, "0.00001"),
        (-1.5e-06, "-0.0000015"),
        (1e-07, "1e-7"),
        (1.25e-300, "1.25e-300"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (2**63 - 1, "9223372036854775807"),
        ("é\n\x1f\x7f", '"é\\n\\u001f\x7f"'),
        ({"\U0001f600": 1, "\ufb33": 2}, '{"\U0001f600":1,"\ufb33":2}'),
    ],
)
def test_the_canonical_form_is_that_of_rfc_8785(value: Any, text: str) -> None:
    assert canonical(value) == text.encode()


@given(JSON)
def test_the_canonical_form_says_the_same_as_the_value(value: Any) -> None:
    assert json.loads(canonical(value)) == value


def test_the_order_of_keys_and_the_way_of_writing_numbers_make_no_difference() -> None:
    assert content_hash({"a": 1, "b": 2.0}) == content_hash({"b": 2, "a": 1.0})
    assert content_hash({"a": 1}) != content_hash({"a": "1"})


def test_source_text_is_hashed_as_it_is() -> None:
    assert content_hash(None, "facet A()") == hashlib.sha256(b"facet A()").hexdigest()
