"""The operator's settings as checks: is this host allowed, is this address?"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

from plait.kernel.errors import InvalidInput

from .addresses import Network, carried, closed, in_any
from .errors import BadUrl, BlockedAddress, BlockedHost
from .settings import EgressSettings
from .url import Address, Target, parse_host


class Rules:
    def __init__(self, settings: EgressSettings) -> None:
        self._private = settings.private
        self._allow_hosts = _Hosts(settings.allow_hosts)
        self._deny_hosts = _Hosts(settings.deny_hosts)
        self._allow_ports = frozenset(settings.allow_ports)
        self._deny_ports = frozenset(settings.deny_ports)
        self._open = _networks(settings.open_addresses)
        self._deny = _networks(settings.deny_addresses)

    def admit(self, target: Target) -> None:
        """Refuses a host or port that the operator closed, before any lookup."""
        if target.host in self._deny_hosts or (self._allow_hosts and target.host not in self._allow_hosts):
            raise BlockedHost(f"requests to {target.host} are not allowed", why="the operator's host lists", fix=_ASK)
        if target.port in self._deny_ports or (self._allow_ports and target.port not in self._allow_ports):
            raise BlockedHost(
                f"requests to port {target.port} are not allowed", why="the operator's port lists", fix=_ASK
            )

    def admit_addresses(self, target: Target, addresses: Iterable[Address]) -> None:
        """Refuses a name with any closed address: a mix of open and closed ones is a mistake or an attack."""
        for address in addresses:
            for each in carried(address):
                why = self._closed(each)
                if why is not None:
                    raise BlockedAddress(
                        f"{target.host} is at an address that is not allowed", why=f"{address} is {why}", fix=_ASK
                    )

    def _closed(self, address: Address) -> str | None:
        if in_any(address, self._deny):
            return "denied by the operator"
        return None if in_any(address, self._open) else closed(address, private=self._private)


_ASK = "ask the operator to open it in the egress settings, if it should be"


class _Hosts:
    """A list of names and `*.` wildcards, normalized like the hosts in URLs."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self._names: set[str] = set()
        self._below: set[str] = set()
        for pattern in patterns:
            wild = pattern.startswith("*.")
            host = pattern.removeprefix("*.")
            try:
                name, literal = parse_host(f"[{host}]" if ":" in host and not host.startswith("[") else host)
            except BadUrl as error:
                raise _bad(pattern, error.what) from None
            if wild and literal is not None:
                raise _bad(pattern, "there are no names below an address")
            (self._below if wild else self._names).add(name)

    def __bool__(self) -> bool:
        return bool(self._names or self._below)

    def __contains__(self, host: str) -> bool:
        if host in self._names:
            return True
        labels = host.split(".")
        return any(".".join(labels[n:]) in self._below for n in range(1, len(labels)))


def _networks(texts: Iterable[str]) -> tuple[Network, ...]:
    found: list[Network] = []
    for text in texts:
        try:
            found.append(ipaddress.ip_network(text))
        except ValueError as error:
            raise _bad(text, str(error)) from None
    return tuple(found)


def _bad(entry: str, why: str) -> InvalidInput:
    return InvalidInput(
        "egress.bad_settings",
        f"the egress settings hold {entry!r}, which can't be used",
        why=why,
        fix="write hosts as name or *.name, networks as 10.1.2.0/24",
    )
