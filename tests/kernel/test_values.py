"""The door: what passes it can be stored by every store and read back equal; what does not is named exactly."""

import dataclasses
import datetime
import decimal
import enum
import json
import uuid
from typing import Any

import hypothesis
import msgspec
import pytest
from hypothesis import strategies as st

from plait.kernel import values
from plait.kernel.errors import InvalidInput, TooLarge
from plait.kernel.values import NotEncodable


@dataclasses.dataclass
class Order:
    sku: str
    extra: Any = None


@dataclasses.dataclass(slots=True)
class Slim:
    extra: Any = None


class Struct(msgspec.Struct):
    extra: Any = None


class Color(enum.Enum):
    RED = "red"


class Unknown:
    pass


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def refusal(value: object) -> NotEncodable:
    with pytest.raises(NotEncodable) as caught:
        values.encode(value)
    return caught.value


# -- what passes -----------------------------------------------------------------------------------------------------

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"))
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
plain = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(texts, inner), max_leaves=30)


@hypothesis.given(plain)
def test_what_passes_the_door_is_read_back_equal(value: Any):
    raw = values.encode(value)
    assert values.decode(raw) == value
    assert json.loads(bytes(raw)) == value


@hypothesis.given(plain)
def test_reading_json_text_gives_what_was_written(value: Any):
    assert values.parse(json.dumps(value)) == value


@hypothesis.given(
    st.recursive(st.floats() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))
)
def test_the_door_opens_or_says_why_and_nothing_between(value: Any):
    try:
        raw = values.encode(value)
    except NotEncodable as error:
        raw = values.encode(error.path)
    assert values.decode(raw) == value or values.decode(raw).startswith("$")


def test_a_decoded_value_is_a_fresh_copy():
    raw = values.encode({"items": [1]})
    values.decode(raw)["items"].append(2)
    assert values.decode(raw) == {"items": [1]}


@pytest.mark.parametrize(
    ("value", "type"),
    [
        (Order("tea"), Order),
        (datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC), datetime.datetime),
        (uuid.UUID(int=7), uuid.UUID),
        (decimal.Decimal("1.10"), decimal.Decimal),
        (Color.RED, Color),
        ({"a", "b"}, set[str]),
        (b"\x00\xff", bytes),
        ((1, "a"), tuple[int, str]),
        ({1: "a"}, dict[int, str]),
    ],
)
def test_typed_values_come_back_as_their_type(value: Any, type: Any):
    assert values.decode(values.encode(value), type) == value


def test_a_pydantic_model_comes_back_as_a_model():
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model("Point", x=(int, ...), when=(datetime.datetime, ...))
    point = model(x=1, when=datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC))
    assert values.decode(values.encode(point), model) == point
    assert values.decode(values.encode([point]), list[model]) == [point]


def test_types_made_at_run_time_do_not_pile_up():
    for number in range(5_000):
        values.decode(b"null", msgspec.defstruct(f"T{number}", []) | None)
    assert len(values._decoders) <= 2048  # pyright: ignore[reportPrivateUsage]


def test_an_annotation_that_can_not_be_hashed_is_still_read():
    hint = msgspec.Meta(extra={"a": []})
    assert values.decode(b"1", __import__("typing").Annotated[int, hint]) == 1


def test_the_deepest_value_that_is_allowed_passes():
    assert values.decode(values.encode(nested(values.MAX_DEPTH))) == nested(values.MAX_DEPTH)


def test_the_word_null_in_a_text_is_no_reason_to_refuse_it():
    assert values.decode(values.encode({"null": "null \\u0000"})) == {"null": "null \\u0000"}


# -- what does not ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "path", "why"),
    [
        ({"a": [1, float("nan")]}, "$.a[1]", "nan"),
        ({"a": float("inf")}, "$.a", "inf"),
        (-float("inf"), "$", "-inf"),
        ({"a": {"b": "x\0y"}}, "$.a.b", "NUL"),
        ({"x\0y": 1}, "$.'x\\x00y'", "NUL"),
        ([["\ud800"]], "$[0][0]", "surrogate"),
        ({"a": {"conn": Unknown()}}, "$.a.conn", "Unknown"),
        ((1, Unknown()), "$[1]", "Unknown"),
        (Order("tea", [Unknown()]), "$.extra[0]", "Unknown"),
        (Slim([Unknown()]), "$.extra[0]", "Unknown"),
        (Struct({"a": Unknown()}), "$.extra.a", "Unknown"),
        ({"n": [10**5000]}, "$.n[0]", "4300 digits"),
        (Order("tea", float("nan")), "$.extra", "nan"),
        (Unknown, "$", "type"),
        (len, "$", "builtin"),
    ],
)
def test_the_part_that_can_not_be_stored_is_named(value: Any, path: str, why: str):
    error = refusal(value)
    assert error.path == path
    assert f"`{path}`" in str(error)
    assert why in error.why
    assert (error.code, error.status) == ("value.not_encodable", 422)


def test_a_value_nested_too_deep_is_refused():
    assert "deeper than 128" in refusal(nested(values.MAX_DEPTH + 1)).why


def test_a_value_that_holds_itself_is_refused():
    circle: list[Any] = []
    circle.append(circle)
    assert "holds itself" in refusal(circle).why


def test_a_dict_with_keys_that_are_no_texts_of_their_own_is_refused():
    assert refusal({(1, 2): 3}).path == "$"


def test_a_value_over_the_limit_is_too_large():
    with pytest.raises(TooLarge) as caught:
        values.encode("x" * 100, max_bytes=50)
    assert (caught.value.code, caught.value.status) == ("value.too_large", 413)
    assert "102 bytes" in caught.value.what
    assert "50" in caught.value.why


def test_a_value_just_at_the_limit_is_not():
    assert len(bytes(values.encode("x" * 48, max_bytes=50))) == 50


# -- text from outside -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"a": 1, "a": 2}', "value.duplicate_key"),
        ('[{"b": {"a": 1, "a": 1}}]', "value.duplicate_key"),
        ("NaN", "value.not_encodable"),
        ("-Infinity", "value.not_encodable"),
        ("1e999", "value.not_encodable"),
        ('"\\ud800"', "value.not_encodable"),
        ('{"a": "\\u0000"}', "value.not_encodable"),
        ("[" * 200 + "]" * 200, "value.not_encodable"),
        ("[" * 200_000 + "]" * 200_000, "value.not_encodable"),
        ("{", "value.malformed"),
        ("", "value.malformed"),
        ("1 2", "value.malformed"),
        (b"\xff", "value.malformed"),
        ("9" * 5000, "value.malformed"),
    ],
)
def test_text_that_is_not_good_json_is_refused(text: str | bytes, code: str):
    with pytest.raises(InvalidInput) as caught:
        values.parse(text)
    assert caught.value.code == code
    assert caught.value.status == 422


def test_a_duplicate_key_is_named():
    with pytest.raises(InvalidInput, match="'sku' stands twice"):
        values.parse('{"sku": 1, "n": 2, "sku": 3}')


# -- names and remarks -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("good", ["", "tea", "é 注文 😀", "x" * 1000, "line\nline"])
def test_plain_text_is_taken_as_it_is(good: str):
    assert values.text("the name", good) == good


@pytest.mark.parametrize(
    ("bad", "why"),
    [("a\0b", "NUL"), ("\ud800", "surrogate"), ("a\udfffb", "surrogate"), ("x" * 1001, "1,001 characters")],
)
def test_text_that_no_store_could_keep_is_refused(bad: str, why: str):
    with pytest.raises(InvalidInput) as caught:
        values.text("the name", bad)
    assert caught.value.code == "value.bad_text"
    assert "the name" in caught.value.what
    assert why in caught.value.why


@pytest.mark.parametrize("bad", [None, 7, b"tea", ["tea"]])
def test_what_is_no_text_is_refused(bad: Any):
    with pytest.raises(InvalidInput) as caught:
        values.text("the name", bad)
    assert caught.value.code == "value.not_text"


def test_a_type_that_can_not_be_read_back_says_so():
    with pytest.raises(msgspec.ValidationError, match="Unknown"):
        values.decode(b"{}", Unknown)
