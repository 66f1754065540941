"""Parses URLs strictly: one spelling, one meaning.

Checks are bypassed with URLs that two parsers read differently. So everything ambiguous is refused here (credentials,
backslashes, control characters, percent signs in hosts, numbers that `inet_aton` would take for IPv4 addresses), and
only the parsed parts are used from then on: the text of the URL is never parsed again.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Literal
from urllib.parse import quote

import msgspec

from plait.extras import extra

from .errors import BadUrl

Scheme = Literal["http", "https"]
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

MAX_LENGTH = 8_192
_MAX_HOST = 253
_DEFAULT_PORTS: dict[Scheme, int] = {"http": 80, "https": 443}

_URL = re.compile(r"(?P<scheme>https?)://(?P<authority>[^/?#]*)(?P<path>[^?#]*)(?P<query>\?[^#]*)?(?:#.*)?", re.I)
_AUTHORITY = re.compile(r"(?P<host>\[[0-9a-f:.]*\]|[^\[\]:]*)(?::(?P<port>[0-9]{1,5}))?", re.I | re.ASCII)
_UNUSABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\\\ud800-\udfff]")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?", re.ASCII)
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*", re.ASCII)
_KEPT = "".join(chr(code) for code in range(0x21, 0x7F))


class Target(msgspec.Struct, frozen=True):
    """The target of a request."""

    scheme: Scheme
    host: str
    """The host in lower-case ASCII, without a trailing dot or brackets."""
    port: int
    path: str
    """The path with the query, as it is sent."""
    literal: Address | None = None
    """The address, if the host is one."""

    @property
    def authority(self) -> str:
        """The value of the `Host` header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.authority}"

    @property
    def url(self) -> str:
        return self.origin + self.path


def parse_url(text: str) -> Target:
    """Parses an absolute http or https URL; raises if it can't be used."""
    if len(text) > MAX_LENGTH:
        raise BadUrl("the URL is too long", why=f"it has {len(text)} characters, {MAX_LENGTH} are allowed")
    if _UNUSABLE.search(text) or text != text.strip():
        raise BadUrl(
            "the URL holds characters that can't be in one",
            why="control characters, backslashes and white space around it are refused",
            fix="percent-encode them",
        )
    found = _URL.fullmatch(text)
    if found is None:
        raise BadUrl("the URL is not an absolute http or https URL", fix="write https://host/path")
    scheme: Scheme = "https" if found["scheme"].lower() == "https" else "http"
    host, port = _split(found["authority"])
    name, literal = parse_host(host)
    path = quote((found["path"] or "/") + (found["query"] or ""), safe=_KEPT)
    return Target(scheme, name, _DEFAULT_PORTS[scheme] if port is None else port, path, literal)


def parse_host(text: str) -> tuple[str, Address | None]:
    """Normalizes a host: to an address, or a name in lower-case ASCII without the trailing dot."""
    if text.startswith("["):
        try:
            literal = ipaddress.IPv6Address(text[1:-1])
        except ValueError:
            raise BadUrl("the URL's host is not an IPv6 address") from None
        return str(literal), literal
    name = _ascii(text).lower().removesuffix(".")
    labels = name.split(".")
    if len(name) > _MAX_HOST or not all(_LABEL.fullmatch(label) for label in labels):
        raise BadUrl("the URL's host is not a host name", fix="write a plain name or address, such as api.example.com")
    if not _NUMBER.fullmatch(labels[-1]):
        return name, None
    try:
        literal = ipaddress.IPv4Address(name)
    except ValueError:
        raise BadUrl(
            "the URL's host is an odd spelling of an IPv4 address",
            why="decimal, octal, hexadecimal and shortened forms are refused",
            fix="write four decimal numbers, such as 192.0.2.10",
        ) from None
    return name, literal


def _split(authority: str) -> tuple[str, int | None]:
    if "@" in authority:
        raise BadUrl(
            "the URL holds credentials", why="URLs end up in logs and histories", fix="send an Authorization header"
        )
    found = _AUTHORITY.fullmatch(authority)
    if found is None or not found["host"]:
        raise BadUrl("the URL has no usable host", fix="write https://host/path")
    if found["port"] is None:
        return found["host"], None
    port = int(found["port"])
    if not 1 <= port <= 65_535:
        raise BadUrl("the URL's port is not between 1 and 65535")
    return found["host"], port


def _ascii(host: str) -> str:
    """Applies IDNA with the browsers' mapping: full-width digits and dots become plain ones before any check."""
    if host.isascii():
        return host
    with extra("http", "a host name that is not ASCII"):
        import idna
    try:
        return idna.encode(host, uts46=True, transitional=False).decode("ascii")
    except (idna.IDNAError, UnicodeError):
        raise BadUrl("the URL's host is not an internationalized name that can be used") from None
