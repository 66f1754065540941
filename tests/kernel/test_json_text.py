"""JSON text from outside: long texts are read as strictly as short ones, and in steps that let others run."""

from __future__ import annotations

import contextlib
import json
import re
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st

from plait.kernel import json_text, values
from plait.kernel.errors import InvalidInput, PlaitError, TooLarge

MEGABYTES = 4 * 1024 * 1024
texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"))
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
plain = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(texts, inner), max_leaves=30)


def long(text: str, before: str = " " * json_text.LONG) -> str:
    """The same value, written so that it counts as long."""
    return before + text


def listed(item: str, most: int = MEGABYTES) -> str:
    """As many of them as a body may hold."""
    return f"[{','.join([item] * ((most - 2) // (len(item) + 1)))}]"


def code_of(text: str) -> str:
    with pytest.raises(PlaitError) as caught:
        values.parse(text)
    return caught.value.code


@hypothesis.given(plain, st.booleans(), st.sampled_from([None, 1]))
def test_a_long_text_is_read_like_a_short_one(value: Any, ascii: bool, indent: int | None):
    text = json.dumps(value, ensure_ascii=ascii, indent=indent)
    assert values.parse(long(text)) == values.parse(text) == value


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "a": 2}',
        '{"a": {"b": 1, "c": [{}], "b": 2}}',
        '{"a" : 1, "b": "a", "a"\n: 2}',
        r'{"a": 1, "\u0061": 2}',
        r'{"\"": 1, "\"": 2}',
        r'{"\\": 1, "x": "\\\"", "\\": 2}',
    ],
)
def test_a_duplicate_key_is_seen_in_a_long_text_too(text: str):
    assert code_of(text) == code_of(long(text)) == "value.duplicate_key"


@pytest.mark.parametrize(
    "text",
    [
        *(
            '{"a": 1',
            '{"a": "1}',
            "[1,]",
            '["a',
            '["a\\',
            '["\\"]',
            "01",
            "[1] x",
            "nul",
            "[",
            "",
            "}",
            '{"a":1}}',
            "][",
        ),
        *("NaN", "[Infinity]", "1e999", r'"\ud800"', r'"\u0000"', r'{"\u0000": 1}', '"\x01"', "\ufeff1", "\u00a0 1"),
        *("[" * 129 + "1" + "]" * 129, "[" * 200_000),
    ],
)
def test_what_is_not_strict_json_is_refused_whatever_its_length(text: str):
    assert code_of(text) in ("value.malformed", "value.not_encodable")
    assert code_of(long(text)) in ("value.malformed", "value.not_encodable")


def test_the_deepest_value_that_is_taken_is_the_same_in_a_long_text():
    for text in ("[" * 129 + "]" * 129, "[" * 128 + "1" + "]" * 128):
        assert values.parse(long(text)) == values.parse(text)


def test_keys_of_different_objects_and_values_that_look_like_keys_are_fine():
    text = r'[{"a": 1}, {"a": {"a": "a", "b": "a:"}}, ["a", "a"], {"x": "\u0061", "a": "{\"a\":1,\"a\":2}", "": ""}]'
    assert values.parse(long(text)) == json.loads(text)


@pytest.mark.parametrize("around", range(-4, 5))
def test_a_string_is_whole_wherever_a_step_of_the_scan_ends(around: int):
    text = r'{"a": "\\\"\n", "b": 123456, "c": [true]}'
    before = "\n" * (json_text.LONG + around)
    assert values.parse(before + text) == json.loads(text)
    assert values.parse(f'["{"x" * (json_text.LONG + around)}", {text}]')[1] == json.loads(text)


@pytest.mark.parametrize("item", ["{}", "null", "[]", '""', "1", "1.5", '{"a":1}', "1" * 320])
def test_so_many_values_that_they_would_stop_the_loop_are_refused(item: str):
    with pytest.raises(TooLarge) as caught:
        values.parse(listed(item))
    assert caught.value.code == "value.too_many"
    assert len(values.parse(listed(item, most=json_text.LONG - 1))) > 100


def test_a_body_of_ordinary_records_is_taken():
    rows = [{"sku": f"tea-{number}", "price": number / 7, "count": number, "note": None} for number in range(15_000)]
    assert values.parse(json.dumps(rows)) == rows


@pytest.mark.parametrize("number", ["1" * 321, "-" + "9" * 4000, "0." + "1" * 4000, "1" * 5_000_000])
def test_a_number_without_end_is_refused(number: str):
    for text in (f"[{number}]", long(f"[{number}]")):
        with pytest.raises(InvalidInput) as caught:
            values.parse(text)
        assert (caught.value.code, caught.value.fix) == ("value.malformed", "send it as a string")


def test_the_largest_float_may_be_written_out():
    assert values.parse(f"{1.7976931348623157e308:.0f}") == int(1.7976931348623157e308)


class Measured:
    """A pattern, with how far each call of it looked: what runs inside of one call lets no other thread run."""

    def __init__(self, pattern: re.Pattern[str], looked: list[int]) -> None:
        self._pattern, self._looked = pattern, looked

    def search(self, text: str, at: int = 0, end: int = 2**60) -> re.Match[str] | None:
        self._looked.append(min(end, len(text)) - at)
        return self._pattern.search(text, at, end)

    def match(self, text: str, at: int = 0, end: int = 2**60) -> re.Match[str] | None:
        self._looked.append(min(end, len(text)) - at)
        return self._pattern.match(text, at, end)


@pytest.mark.parametrize(
    "text",
    [
        " " * MEGABYTES + "1",
        f'["{"x" * MEGABYTES}"]',
        f'["{chr(92) * MEGABYTES}"]',
        "1" * MEGABYTES,
        '["x' + "y" * MEGABYTES,
    ],
)
def test_the_scan_of_a_long_text_goes_by_small_steps(text: str, monkeypatch: pytest.MonkeyPatch):
    looked: list[int] = []
    for name in ("_TOKEN", "_PART"):
        monkeypatch.setattr(json_text, name, Measured(getattr(json_text, name), looked))
    with contextlib.suppress(PlaitError):
        values.parse(text)
    assert 0 < max(looked) <= json_text.LONG
