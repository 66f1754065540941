"""Signed texts: whatever is changed about them, they are refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.server.auth.signing import MAX_LENGTH, Signer

SIGNER = Signer(b"k" * 32, "link.hook")
payloads = st.binary(min_size=1, max_size=300)


@given(payloads)
def test_a_signed_payload_is_verified(payload: bytes):
    assert SIGNER.verify(SIGNER.sign(payload)) == payload


@given(payloads, st.data())
def test_a_text_with_any_bit_flipped_is_refused(payload: bytes, data: st.DataObject):
    text = SIGNER.sign(payload)
    at = data.draw(st.integers(0, len(text) - 1))
    flipped = chr(ord(text[at]) ^ (1 << data.draw(st.integers(0, 7))))
    assert SIGNER.verify(text[:at] + flipped + text[at + 1 :]) is None


@pytest.mark.parametrize("size", [1, 2, 3])
def test_every_single_bit_counts_also_those_that_base64_does_not_need(size: int):
    text = SIGNER.sign(b"x" * size)
    for at in range(len(text)):
        for bit in range(8):
            assert SIGNER.verify(text[:at] + chr(ord(text[at]) ^ (1 << bit)) + text[at + 1 :]) is None


@given(payloads, st.data())
def test_a_text_that_was_cut_or_grew_is_refused(payload: bytes, data: st.DataObject):
    text = SIGNER.sign(payload)
    assert SIGNER.verify(text[: data.draw(st.integers(0, len(text) - 1))]) is None
    assert SIGNER.verify(text + data.draw(st.text(min_size=1, max_size=5))) is None


@given(payloads)
def test_another_purpose_and_another_secret_do_not_verify(payload: bytes):
    assert Signer(b"k" * 32, "link.approval").verify(SIGNER.sign(payload)) is None
    assert Signer(b"K" * 32, "link.hook").verify(SIGNER.sign(payload)) is None


@given(st.text(max_size=200))
def test_noise_is_refused(text: str):
    assert SIGNER.verify(text) is None
    assert SIGNER.verify("plait1." + text) is None


def test_a_text_far_too_long_is_refused_unread():
    assert SIGNER.verify("plait1." + "A" * (MAX_LENGTH + 1)) is None


def test_the_mac_of_one_text_is_not_that_of_another():
    assert SIGNER.mac("a") == SIGNER.mac("a")
    assert SIGNER.mac("a") != SIGNER.mac("b")
