"""Headers of requests: what callers may set, what we add, and what may follow a redirect."""

from __future__ import annotations

import re
from collections.abc import Mapping

from .errors import BadRequest
from .url import Target

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", re.ASCII)
_VALUE = re.compile(r"(?:[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?)?")

OURS = frozenset(
    {"accept-encoding", "content-length", "host", "transfer-encoding", "trailer", "te", "expect", "upgrade"}
    | {"connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection"}
)
"""Headers that frame the message or belong to the connection, which only the client may set."""

_ABOUT_THE_BODY = frozenset(["content-encoding", "content-language", "content-location", "content-type", "digest"])

_FIT_FOR_STRANGERS = _ABOUT_THE_BODY | frozenset(
    ["accept", "accept-language", "idempotency-key", "traceparent", "tracestate", "user-agent"]
)
"""Headers that may follow a redirect to another origin. Any other header may contain an API key."""


def checked(headers: Mapping[str, str], *, max_bytes: int) -> dict[str, str]:
    """Returns a caller's headers with names in lower case; raises if one can't be sent."""
    found: dict[str, str] = {}
    for name, value in headers.items():
        lower = name.lower()
        if not _NAME.fullmatch(name) or lower in OURS or lower in found:
            raise BadRequest(
                f"the header {name[:100]!r} can't be sent",
                why="its name is malformed, given twice, or belongs to the connection",
                fix="leave it out: length, host and encoding are set by the client",
            )
        if not _VALUE.fullmatch(value):
            raise BadRequest(
                f"the value of the header {name} can't be sent",
                why="it holds line breaks, other control characters, non-ASCII text, or spaces around it",
                fix="encode it",
            )
        found[lower] = value
    if sum(len(name) + len(value) + 4 for name, value in found.items()) > max_bytes:
        raise BadRequest("the headers are too large", why=f"more than {max_bytes:,} bytes")
    return found


def for_another_origin(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name in _FIT_FOR_STRANGERS}


def without_body(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name not in _ABOUT_THE_BODY}


def on_the_wire(target: Target, method: str, headers: Mapping[str, str], body: bytes) -> list[tuple[bytes, bytes]]:
    """Returns all headers of one message, as they are sent."""
    sent = {"host": target.authority, **headers, "accept-encoding": "gzip, deflate"}
    if body or method in ("POST", "PUT", "PATCH"):
        sent["content-length"] = str(len(body))
    return [(name.encode("ascii"), value.encode("ascii")) for name, value in sent.items()]
