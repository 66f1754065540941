from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.observe.masking import clean, masked

KEY = "plait_op_9fA3kdl20sLLq0aZ"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"key {KEY} is used", "key plait_*** is used"),
        ("Authorization: Bearer abc.def.ghi", "Authorization: Bearer ***"),
        ("AUTHORIZATION: token-123456", "AUTHORIZATION: ***"),
        ("authorization=abcdef", "authorization=***"),
        ("{'Cookie': 'plait_session=abc'}", "{'Cookie': '***'}"),
        ("basic dXNlcjpwYXNz", "basic ***"),
        ("postgresql://plait:s3cret@db/plait is away", "postgresql://plait:***@db/plait is away"),
        ('"POST /hooks/abc.def HTTP/1.1" 200', '"POST /hooks/*** HTTP/1.1" 200'),
        ("/api/v1/links/tok?x=1", "/api/v1/links/***?x=1"),
    ],
)
def test_what_looks_like_a_secret_is_hidden(text: str, shown: str):
    assert masked(text) == shown


@pytest.mark.parametrize("text", ["plait_http_request_seconds_total", "a basic idea", "http://host:80/x", "plait_demo"])
def test_ordinary_text_stays_as_it_is(text: str):
    assert masked(text) == text


def test_values_are_secret_by_their_name_too():
    given = {"headers": {"Authorization": "x", "accept": "json"}, "api_key": 5, "x-plait-csrf": "t", "user": "ada"}
    assert clean(given) == {
        "headers": {"Authorization": "***", "accept": "json"},
        "api_key": "***",
        "x-plait-csrf": "***",
        "user": "ada",
    }


def test_a_key_at_the_cut_of_a_long_text_does_not_show_its_first_half():
    assert KEY[:12] not in clean("x" * 16_370 + " " + KEY)


def test_a_value_that_holds_itself_is_cut():
    loop: dict[str, Any] = {}
    loop["again"] = loop
    assert "…" in str(clean(loop))


def test_a_long_list_is_cut_and_says_so():
    assert clean(list(range(1000)))[-1] == "… 900 more"


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError("no")


def test_what_refuses_to_be_printed_is_named():
    assert clean({"it": Unprintable()}) == {"it": "<Unprintable that can't be printed: RuntimeError>"}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=20,
)


@given(json_values)
def test_whatever_comes_json_can_hold_it(value: object):
    import json

    json.loads(json.dumps(clean(value), allow_nan=False))
