"""Sealed texts: whatever is changed about them, they are refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.server.auth.signing import LONGEST, Seal

SEAL = Seal(b"k" * 32, "link.hook")
payloads = st.binary(min_size=1, max_size=300)


@given(payloads)
def test_what_was_sealed_comes_out_again(payload: bytes):
    assert SEAL.open(SEAL.close(payload)) == payload


@given(payloads, st.data())
def test_a_text_with_any_bit_flipped_is_refused(payload: bytes, data: st.DataObject):
    text = SEAL.close(payload)
    at = data.draw(st.integers(0, len(text) - 1))
    flipped = chr(ord(text[at]) ^ (1 << data.draw(st.integers(0, 7))))
    assert SEAL.open(text[:at] + flipped + text[at + 1 :]) is None


@pytest.mark.parametrize("size", [1, 2, 3])
def test_every_single_bit_counts_also_those_that_base64_does_not_need(size: int):
    text = SEAL.close(b"x" * size)
    for at in range(len(text)):
        for bit in range(8):
            assert SEAL.open(text[:at] + chr(ord(text[at]) ^ (1 << bit)) + text[at + 1 :]) is None


@given(payloads, st.data())
def test_a_text_that_was_cut_or_grew_is_refused(payload: bytes, data: st.DataObject):
    text = SEAL.close(payload)
    assert SEAL.open(text[: data.draw(st.integers(0, len(text) - 1))]) is None
    assert SEAL.open(text + data.draw(st.text(min_size=1, max_size=5))) is None


@given(payloads)
def test_another_purpose_and_another_secret_are_strangers(payload: bytes):
    assert Seal(b"k" * 32, "link.approval").open(SEAL.close(payload)) is None
    assert Seal(b"K" * 32, "link.hook").open(SEAL.close(payload)) is None


@given(st.text(max_size=200))
def test_noise_is_refused(text: str):
    assert SEAL.open(text) is None
    assert SEAL.open("plait1." + text) is None


def test_a_text_far_too_long_is_refused_unread():
    assert SEAL.open("plait1." + "A" * (LONGEST + 1)) is None


def test_a_stamp_of_one_thing_is_not_that_of_another():
    assert SEAL.stamp("a") == SEAL.stamp("a")
    assert SEAL.stamp("a") != SEAL.stamp("b")
