"""Which pages of other sites may call the mount, and the headers that tell their browsers so.

None may, unless the operator lists their sites: the mount asks nobody for a key, so a page that may call it may do
everything its clients may.
"""

from __future__ import annotations

from collections.abc import Iterable

Headers = list[tuple[bytes, bytes]]

ANY = "*"
"""In a list of sites: all of them."""

_PREFLIGHT: Headers = [
    (b"access-control-allow-methods", b"GET, POST, PUT, DELETE, OPTIONS"),
    (b"access-control-allow-headers", b"*"),
    (b"access-control-max-age", b"86400"),
]


class Cors:
    def __init__(self, origins: Iterable[str]) -> None:
        self._origins = frozenset(origins)
        self._any = ANY in self._origins

    def allows(self, origin: str | None) -> bool:
        """Whether a page of that site may call."""
        return self._any or (origin is not None and origin in self._origins)

    def headers(self, origin: str | None) -> Headers:
        """Of every answer."""
        if self._any:
            return [(b"access-control-allow-origin", b"*")]
        vary: Headers = [(b"vary", b"origin")] if self._origins else []
        if origin is None or origin not in self._origins:
            return vary
        return [(b"access-control-allow-origin", origin.encode("latin-1")), *vary]

    def preflight(self, origin: str | None) -> Headers:
        """Of the answer to a browser that asks before it sends."""
        return [*self.headers(origin), *(_PREFLIGHT if self.allows(origin) else ())]
