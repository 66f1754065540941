"""Redirects: a pure step from one hop to the next, by RFC 9110 section 15.4."""

from __future__ import annotations

import re
from urllib.parse import urljoin

import msgspec

from .errors import BadRedirect, BadUrl
from .headers import for_another_origin, without_body
from .messages import Headers
from .url import Target, parse_url

_ABSOLUTE = re.compile(r"[a-z][a-z0-9+.-]*:", re.I | re.ASCII)
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class Hop(msgspec.Struct, frozen=True):
    """One message to one place."""

    target: Target
    method: str
    headers: dict[str, str]
    body: bytes


def next_hop(hop: Hop, status: int, headers: Headers) -> Hop | None:
    """Returns the hop that an answer redirects to; None if it is final. The new target is parsed, but not checked."""
    if status not in _REDIRECTS or "location" not in headers:
        return None
    target = _destination(hop.target, headers)
    method, body, kept = hop.method, hop.body, hop.headers
    if _becomes_get(status, method):
        method, body, kept = "GET", b"", without_body(kept)
    if target.origin != hop.target.origin:
        kept = for_another_origin(kept)
    return Hop(target, method, kept, body)


def _destination(here: Target, headers: Headers) -> Target:
    place, *others = headers.all("location")
    if others:
        raise BadUrl(f"{here.origin} redirects to several places at once")
    try:
        # Servers send UTF-8, which was decoded as Latin-1 like all headers
        text = place.encode("latin-1").decode("utf-8")
        if not _ABSOLUTE.match(text):  # `urljoin` would read http:///a as a path
            text = urljoin(here.url, text)
    except ValueError:
        raise BadUrl(f"{here.origin} redirects to something that is not a URL") from None
    target = parse_url(text)
    if here.scheme == "https" and target.scheme == "http":
        raise BadRedirect(
            f"{here.origin} redirects from https to http", why="what is sent there could be read on the way"
        )
    return target


def _becomes_get(status: int, method: str) -> bool:
    """Whether the next request is a GET: always after 303; after 301 and 302 only for POST, as in every browser."""
    return (status == 303 and method not in ("GET", "HEAD")) or (status in (301, 302) and method == "POST")
