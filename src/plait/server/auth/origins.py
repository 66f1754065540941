"""Whether a browser says that a request comes from our own pages: the second line behind the CSRF token."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from urllib.parse import urlsplit

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing."""

_DEFAULT_PORTS = {"http": ":80", "https": ":443"}


def foreign(headers: Mapping[str, str], ours: Collection[str] = ()) -> str:
    """Why a request that changes something is not from our own pages; empty if nothing speaks against it.
    `ours` are origins beside the one in `Host`, for servers behind a proxy that changes it."""
    origin = headers.get("origin")
    if origin is not None and origin in ours:
        return ""
    site = headers.get("sec-fetch-site")
    if site not in (None, "same-origin", "none"):
        return f"the browser says it is {site[:40]}"
    if origin is not None and _place(origin) != _host(headers.get("host", ""), origin):
        return "its Origin is another site"
    return ""


def origin_of(url: str) -> str:
    """The origin of an address, as browsers write it."""
    parts = urlsplit(url)
    return f"{parts.scheme.lower()}://{_place(url)}"


def _place(url: str) -> str:
    """Name and port, without a port that goes without saying. The scheme is left out: a proxy may have ended TLS."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return parts.netloc.lower().removesuffix(_DEFAULT_PORTS.get(parts.scheme.lower(), "?"))


def _host(host: str, origin: str) -> str:
    scheme = origin.partition(":")[0].lower()
    return host.lower().removesuffix(_DEFAULT_PORTS.get(scheme, "?")) or "?"
