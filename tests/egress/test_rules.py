"""Which hosts and addresses are open."""

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.egress import Egress, EgressSettings
from plait.egress.errors import BlockedAddress, BlockedHost
from plait.egress.rules import Rules
from plait.egress.url import parse_url
from plait.kernel.errors import InvalidInput

# fmt: off
CLOSED = [
    "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1",
    "127.255.255.254", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1",
    "192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1",
    "255.255.255.255", "::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "64:ff9b::7f00:1",
    "64:ff9b::808:808", "64:ff9b:1::1", "100::1", "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:db8::1",
    "2002:7f00:1::1", "2002:808:808::1", "2606:4700::5efe:7f00:1", "2606:4700::200:5efe:a00:1", "3fff::1", "5f00::1",
    "fc00::1", "fd12::1", "fe80::1", "fec0::1", "ff02::1", "4000::1",
]
OPEN = [
    "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "93.184.215.14", "100.63.255.255", "100.128.0.0",
    "126.255.255.255", "128.0.0.1", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.167.255.255", "192.169.0.0",
    "198.17.255.255", "198.20.0.0", "223.255.255.255", "2606:4700:4700::1111", "2a00:1450:4001:800::200e",
    "2001:4860:4860::8888", "2620:fe::fe",
]
LOCAL = [
    "127.0.0.1", "::1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1", "fd00::1",
]
# fmt: on
EXAMPLE = parse_url("http://example.com/")


def is_open(address: str, settings: EgressSettings | None = None) -> bool:
    try:
        Rules(settings or EgressSettings()).admit_addresses(EXAMPLE, [ip_address(address)])
    except BlockedAddress as error:
        return error.code != "egress.blocked_address" or error.retryable
    return True


def is_allowed(url: str, settings: EgressSettings) -> bool:
    try:
        Rules(settings).admit(parse_url(url))
    except BlockedHost as error:
        return error.code != "egress.blocked_host" or error.retryable
    return True


@pytest.mark.parametrize("address", CLOSED)
def test_a_special_address_is_closed(address: str):
    assert not is_open(address)


@pytest.mark.parametrize("address", OPEN)
def test_a_public_address_is_open(address: str):
    assert is_open(address)


@given(st.ip_addresses())
def test_what_the_standard_library_calls_private_is_closed(address: IPv4Address | IPv6Address):
    if address.is_private or address.is_multicast or address.is_reserved or address.is_link_local:
        assert not is_open(str(address))


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_is_never_more_open_inside_an_ipv6_address(address: IPv4Address):
    number = int(address)
    for carrier in (
        0xFFFF << 32 | number,
        0x64FF9B << 96 | number,
        0x2002 << 112 | number << 80,
        0x2606_4700 << 96 | 0x5EFE << 32 | number,
    ):
        anywhere = EgressSettings(open_addresses=("::/0",))
        assert is_open(str(IPv6Address(carrier)), anywhere) is is_open(str(address))


@pytest.mark.parametrize("address", LOCAL)
def test_development_opens_what_a_developers_machine_uses(address: str):
    assert is_open(address, EgressSettings(private=True))


@pytest.mark.parametrize("address", ["169.254.169.254", "0.0.0.0", "224.0.0.1", "::ffff:127.0.0.1", "fe80::1"])
def test_development_does_not_open_metadata_services_and_the_like(address: str):
    assert not is_open(address, EgressSettings(private=True))


def test_the_operator_opens_a_network_and_only_that():
    settings = EgressSettings(open_addresses=("10.1.2.0/24",))
    assert is_open("10.1.2.3", settings)
    assert not is_open("10.1.3.3", settings)


def test_deny_wins_over_open():
    settings = EgressSettings(private=True, open_addresses=("10.0.0.0/8",), deny_addresses=("10.1.0.0/16", "8.8.8.8"))
    assert is_open("10.2.0.1", settings)
    assert not is_open("10.1.0.1", settings)
    assert not is_open("8.8.8.8", settings)


def test_one_closed_address_among_open_ones_closes_a_name():
    rules = Rules(EgressSettings())
    with pytest.raises(BlockedAddress):
        rules.admit_addresses(EXAMPLE, [ip_address("8.8.8.8"), ip_address("10.0.0.1")])


def test_an_allow_list_admits_only_its_hosts():
    settings = EgressSettings(
        allow_hosts=("api.example.com", "*.Example.ORG", "192.0.2.1", "2001:db8::1", "bücher.example")
    )
    named = ("api.example.com", "API.example.com.", "a.example.org", "a.b.example.org", "xn--bcher-kva.example")
    for host in (*named, "192.0.2.1", "[2001:db8::1]"):
        assert is_allowed(f"http://{host}/", settings), host
    for host in (
        "example.com",
        "a.api.example.com",
        "example.org",
        "badexample.org",
        "192.0.2.2",
        "example.org.evil.net",
    ):
        assert not is_allowed(f"http://{host}/", settings), host


def test_a_denied_host_is_refused_even_if_it_is_allowed():
    settings = EgressSettings(allow_hosts=("*.example.com",), deny_hosts=("admin.example.com", "*.admin.example.com"))
    assert is_allowed("http://www.example.com/", settings)
    assert not is_allowed("http://ADMIN.example.com./", settings)
    assert not is_allowed("http://x.admin.example.com/", settings)


def test_ports_have_lists_too():
    assert is_allowed("https://example.com/", EgressSettings(allow_ports=(443,)))
    assert not is_allowed("https://example.com:8443/", EgressSettings(allow_ports=(443,)))
    assert not is_allowed("http://example.com/", EgressSettings(allow_ports=(443,)))
    assert not is_allowed("http://example.com:25/", EgressSettings(deny_ports=(25,)))


@pytest.mark.parametrize(
    "settings",
    [
        EgressSettings(allow_hosts=("http://example.com",)),
        EgressSettings(deny_hosts=("*.10.0.0.1",)),
        EgressSettings(deny_hosts=("a*.example.com",)),
        EgressSettings(open_addresses=("10.0.0.1/8",)),
        EgressSettings(deny_addresses=("example.com",)),
        EgressSettings(ca_file="/no/such/file.pem"),
    ],
    ids=str,
)
def test_settings_that_would_not_do_what_they_say_are_refused(settings: EgressSettings):
    with pytest.raises(InvalidInput) as caught:
        Egress(settings)
    assert caught.value.code == "egress.bad_settings"


def test_a_url_can_be_checked_before_it_is_ever_asked():
    egress = Egress(EgressSettings(deny_hosts=("example.com",)))
    egress.check("https://example.org/")
    with pytest.raises(BlockedHost):
        egress.check("https://example.com/")
