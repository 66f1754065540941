"""Keys, values and entries, as their bytes are."""

import json
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.embedding import bare, cbor
from plait.embedding.keys import index_of, pack

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ((1, 0), b"\x15\x01\x14"),
        ((2, 3, (3, 0), 300), b"\x15\x02\x15\x03\x05\x15\x03\x14\x00\x16\x01\x2c"),
        ((5, "a\0b"), b"\x15\x05\x02a\x00\xffb\x00"),
    ],
)
def test_keys_are_tuples_of_foundationdb(parts: Any, expected: bytes) -> None:
    assert pack(*parts) == expected


@given(st.lists(st.lists(st.integers(0, 2**40), min_size=1, max_size=4), min_size=2, max_size=10))
def test_keys_sort_as_their_tuples_do(tuples: list[list[int]]) -> None:
    assert sorted(tuples) == sorted(tuples, key=lambda parts: pack(*parts))


@given(st.integers(0, 2**60))
def test_an_index_is_read_back(index: int) -> None:
    assert index_of(pack(3, index)) == index


@given(JSON)
def test_values_are_read_back_as_they_were(value: Any) -> None:
    found = cbor.decode(cbor.encode(value))
    assert (json.dumps(found), type(found)) == (json.dumps(value), type(value))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, "00"),
        (24, "1818"),
        (1_000_000, "1a000f4240"),
        (18446744073709551616, "c249010000000000000000"),
        (-10, "29"),
        (1.1, "fb3ff199999999999a"),
        (None, "f6"),
        ([1, [2, 3]], "8201820203"),
        ({"a": 1, "b": [2, 3]}, "a26161016162820203"),
        ("ü", "62c3bc"),
    ],
)
def test_values_are_cbor_as_the_standard_has_it(value: Any, expected: str) -> None:
    assert cbor.encode(value).hex() == expected


def test_messages_are_bare() -> None:
    out = bare.Writer()
    out.fixed(1, 2)
    out.uint(300)
    out.text("é")
    out.optional(None, out.text)
    out.optional(7, lambda n: out.fixed(n, 4))
    out.map({"a": 1}, out.uint)
    assert (
        out.bytes()
        == b"\x01\x00" + b"\xac\x02" + b"\x02\xc3\xa9" + b"\x00" + b"\x01" + struct.pack("<I", 7) + b"\x01\x01a\x01"
    )
    read = bare.Reader(out.bytes())
    assert (read.fixed(2), read.uint(), read.text(), read.optional(read.text)) == (1, 300, "é", None)
    assert (read.optional(lambda: read.fixed(4)), read.map(read.uint)) == (7, {"a": 1})
    with pytest.raises(ValueError, match="ends after"):
        read.text()
