"""CORS: which pages of other sites may call the mount, and the headers for their browsers.

None may, unless the operator lists their sites: the mount requires no key, so a page that may call it can do everything
that its clients can.
"""

from __future__ import annotations

from collections.abc import Iterable

Headers = list[tuple[bytes, bytes]]

ANY = "*"
"""Stands for all sites in a list of sites."""

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
        """Returns the CORS headers of every answer."""
        if self._any:
            return [(b"access-control-allow-origin", b"*")]
        vary: Headers = [(b"vary", b"origin")] if self._origins else []
        if origin is None or origin not in self._origins:
            return vary
        return [(b"access-control-allow-origin", origin.encode("latin-1")), *vary]

    def preflight(self, origin: str | None) -> Headers:
        """Returns the headers of the answer to a preflight request."""
        return [*self.headers(origin), *(_PREFLIGHT if self.allows(origin) else ())]
