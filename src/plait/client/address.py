"""The address of a server, and paths below it."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from plait.api.route import API
from plait.kernel.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Address:
    url: str
    """The address, without a slash at the end."""
    local: bool
    """Whether the server is on this machine; then no proxy is used."""

    @property
    def needs_certificate(self) -> bool:
        """Whether to load the certificate authorities, which takes longer than most requests."""
        return not self.local or self.url.startswith("https:")

    @classmethod
    def of(cls, url: str) -> Address:
        try:
            parts = urlsplit(url)
            host, _ = parts.hostname, parts.port
        except ValueError as error:
            raise _bad("malformed address", str(error)) from None
        if parts.scheme not in ("http", "https") or not host:
            raise _bad(f"{url[:200]!r} is not the address of a server")
        if "@" in parts.netloc:
            raise _bad("the address contains a password", "it would be visible in logs and process lists")
        if parts.query or parts.fragment:
            raise _bad(f"{url[:200]!r} is more than an address")
        return cls(url.rstrip("/").removesuffix(API), _is_local(host))

    def path(self, *parts: str) -> str:
        """Returns the address of a resource of the API; ids may contain any character."""
        return self.url + API + "".join(f"/{_quoted(part)}" for part in parts)


def _quoted(part: str) -> str:
    return part.replace(".", "%2E") if part in (".", "..") else quote(part, safe="")


def _is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _bad(what: str, why: str = "") -> InvalidInput:
    return InvalidInput("client.bad_url", what, why=why, fix="use http://host:port, and pass the key with --key")
