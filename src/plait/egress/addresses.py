"""Which addresses are closed, and why: from the IANA registries of special-purpose addresses.

IPv6 is closed except for global unicast, so that new special ranges are closed before we know them. An IPv6 address
that embeds an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo, ISATAP) must pass for both.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_network

from .url import Address

Network = IPv4Network | IPv6Network


def _table(**kinds: str) -> tuple[tuple[Network, str], ...]:
    return tuple(
        (ip_network(text), kind.replace("_", " ").strip()) for kind, texts in kinds.items() for text in texts.split()
    )


_LOCAL = _table(
    loopback="127.0.0.0/8 ::1/128",
    private="10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7",
    carrier_grade_NAT="100.64.0.0/10",
)
"""Networks of a developer's machine and local network: `private=True` opens these."""

_SPECIAL = _table(
    unspecified="0.0.0.0/8 ::/128",
    link_local="169.254.0.0/16 fe80::/10",
    multicast="224.0.0.0/4 ff00::/8",
    documentation="192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 2001:db8::/32 3fff::/20",
    benchmarking="198.18.0.0/15",
    reserved="192.0.0.0/24 240.0.0.0/4 2001::/23",
    mapped_IPv4="::ffff:0:0/96",
    NAT64="64:ff9b::/96 64:ff9b:1::/48",
    _6to4="192.88.99.0/24 2002::/16",
)
"""Networks without legitimate web services: link-local has the clouds' metadata services."""

_GLOBAL_IPV6 = IPv6Network("2000::/3")
_COMPATIBLE = IPv6Network("::/96")
_NAT64 = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))
_ISATAP = (0x0000_5EFE, 0x0200_5EFE)


def closed(address: Address, *, private: bool) -> str | None:
    """Returns why an address is closed, in a word or two; None if it is open."""
    for network, kind in _LOCAL:
        if address in network:
            return None if private else kind
    for network, kind in _SPECIAL:
        if address in network:
            return kind
    if address.version == 6 and address not in _GLOBAL_IPV6:
        return "not global unicast"
    return None


def carried(address: Address) -> Iterator[Address]:
    """Yields the address and the IPv4 addresses embedded in it."""
    yield address
    if isinstance(address, IPv4Address):
        return
    low = IPv4Address(int(address) & 0xFFFF_FFFF)
    if address.ipv4_mapped is not None:
        yield address.ipv4_mapped
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo is not None:
        yield from address.teredo
    if (address in _COMPATIBLE and int(address) > 1) or any(address in network for network in _NAT64):
        yield low
    if (int(address) >> 32) & 0xFFFF_FFFF in _ISATAP:
        yield low


def in_any(address: Address, networks: tuple[Network, ...]) -> bool:
    return any(address in network for network in networks)
