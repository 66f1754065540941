"""No spelling of a URL reaches this machine when private addresses are closed, even if every name leads to it."""

import ipaddress
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plait.egress import Egress, Request
from plait.egress.errors import BadUrl, BlockedAddress
from tests.egress.site import site
from tests.support.effort import examples


async def everything_is_here(host: str, port: int) -> Sequence[str]:
    return ["127.0.0.1"]


def part(number: int) -> st.SearchStrategy[str]:
    """A number as `inet_aton` takes it."""
    return st.sampled_from([str(number), f"0{number:o}", f"000{number:o}", f"0x{number:x}", f"0X{number:X}"])


@st.composite
def ipv4(draw: st.DrawFn) -> str:
    """127.0.0.1 and its neighbours, in one to four parts, each in any base."""
    number = int(draw(st.sampled_from([ipaddress.IPv4Address(a) for a in ("127.0.0.1", "127.1.2.3", "0.0.0.0")])))
    count = draw(st.integers(1, 4))
    heads = [(number >> (24 - 8 * n)) & 0xFF for n in range(count - 1)]
    last = number & ((1 << (8 * (5 - count))) - 1)
    return ".".join([draw(part(piece)) for piece in [*heads, last]])


@st.composite
def ipv6(draw: st.DrawFn) -> str:
    number = int(ipaddress.IPv4Address("127.0.0.1"))
    carried = [1, 0, number, 0xFFFF << 32 | number, 0xFFFF << 48 | number, 0x64FF9B << 96 | number]
    carried += [0x2002 << 112 | number << 80, 0x2001 << 112 | (number ^ 0xFFFF_FFFF)]
    address = ipaddress.IPv6Address(draw(st.sampled_from(carried)))
    forms = [str(address), address.exploded, address.exploded.upper(), "::ffff:127.0.0.1", "::127.0.0.1"]
    return f"[{draw(st.sampled_from(forms))}{draw(st.sampled_from(['', '%lo', '%25lo', '%1']))}]"


NAMES = st.sampled_from(["localhost", "LOCALHOST", "localhost.localdomain", "a.localtest.me", "bücher.example", "x"])
OTHER_DIGITS = [str.maketrans("0123456789", digits) for digits in ("０１２３４５６７８９", "𝟎𝟏𝟐𝟑𝟒𝟓𝟔𝟕𝟖𝟗", "⓪①②③④⑤⑥⑦⑧⑨")]


@st.composite
def disguised(draw: st.DrawFn) -> str:
    host = draw(st.one_of(ipv4(), ipv6(), NAMES))
    if draw(st.booleans()):
        host = host.translate(draw(st.sampled_from(OTHER_DIGITS)))
    if draw(st.booleans()):
        host = host.replace(".", draw(st.sampled_from(["。", "｡", "．", "%2e", ".."])), draw(st.integers(1, 3)))
    if draw(st.booleans()) and host:
        place = draw(st.integers(0, len(host) - 1))
        host = host[:place] + f"%{ord(host[place]) & 0xFF:02x}" + host[place + 1 :]
    before = st.sampled_from(
        ["", "example.com@", "a:b@", "example.com\\@", "example.com#@", "example.com?@", " ", "\t"]
    )
    after = st.sampled_from(["", ".", "..", "\u200b", "\u00ad", "\x00", " ", "%00", "\\"])
    return draw(before) + host + draw(after)


@st.composite
def urls(draw: st.DrawFn) -> str:
    scheme = draw(st.sampled_from(["http://", "HTTP://", "http:", "http:/", "http:///", "//", "http:\\\\", "https://"]))
    host = draw(disguised())
    return f"{scheme}{host}{draw(st.sampled_from([':{port}', ':{port}', ':０{port}', '']))}/path"


@pytest.mark.costly
@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(urls(), min_size=1, max_size=20))
async def test_no_spelling_reaches_this_machine(spellings: list[str]):
    async with site() as here, Egress(resolver=everything_is_here) as egress:
        for spelling in spellings:
            with pytest.raises((BadUrl, BlockedAddress)):
                await egress.send(Request(url=spelling.replace("{port}", str(here.port))))
    assert here.connections == 0
