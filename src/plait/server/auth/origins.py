"""Checks that a request comes from our own pages, as the browser reports it; in addition to the CSRF token."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from urllib.parse import urlsplit

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
"""HTTP methods that change nothing."""

_DEFAULT_PORTS = {"http": ":80", "https": ":443"}


def cross_origin(headers: Mapping[str, str], ours: Collection[str] = ()) -> str:
    """Returns why a request does not come from our own pages; empty if it seems to.
    `ours` are origins besides the one in `Host`, for servers behind a proxy that changes it."""
    origin = headers.get("origin")
    if origin is not None and origin in ours:
        return ""
    site = headers.get("sec-fetch-site")
    if site not in (None, "same-origin", "none"):
        return f"the browser reports it as {site[:40]}"
    if origin is not None and _netloc(origin) != _host(headers.get("host", ""), origin):
        return "its Origin is another site"
    return ""


def origin_of(url: str) -> str:
    """Returns the origin of an address, as browsers write it."""
    parts = urlsplit(url)
    return f"{parts.scheme.lower()}://{_netloc(url)}"


def _netloc(url: str) -> str:
    """Returns host and port, without a default port. The scheme is left out: a proxy may have terminated TLS."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return parts.netloc.lower().removesuffix(_DEFAULT_PORTS.get(parts.scheme.lower(), "?"))


def _host(host: str, origin: str) -> str:
    scheme = origin.partition(":")[0].lower()
    return host.lower().removesuffix(_DEFAULT_PORTS.get(scheme, "?")) or "?"
