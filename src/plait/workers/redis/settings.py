"""Redis settings: the address and the treatment of its workers, in one URL."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from plait.kernel.errors import InvalidInput

_SCHEMES = ("redis", "rediss", "unix")
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
_LONGEST_LEASE = 3_600.0


@dataclass(frozen=True, slots=True)
class RedisSettings:
    url: str
    """The client's address, without our own options."""
    lease: float = 30.0
    """Seconds that a worker may take or be silent before its task is given to another."""
    require_signed_results: bool = False

    @property
    def shown(self) -> str:
        """The address without credentials, for display."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def settings_of(url: str) -> RedisSettings:
    """`redis://host:6379/0`, `rediss://…`, `unix:///path`; with `?lease=60` and `?require_signed_results=true`."""
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    lease = _lease(url, options.pop("lease", "30"))
    signed = _BOOLEANS.get(options.pop("require_signed_results", "false").lower())
    if parts.scheme not in _SCHEMES or signed is None:
        raise _bad_url(url)
    rest = f"?{urlencode(options)}" if options else ""
    return RedisSettings(url.partition("?")[0] + rest, lease, signed)


def _lease(url: str, text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0.1 <= found <= _LONGEST_LEASE:
        raise _bad_url(url)
    return found


def _bad_url(url: str) -> InvalidInput:
    parts = urlsplit(url)
    shown = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    return InvalidInput(
        "redis.bad_url",
        f"{shown!r} is not a Redis URL Plait understands",
        fix="use redis://host:6379/0, rediss://… or unix:///path, "
        "and ?lease=SECONDS (at most 3600) or ?require_signed_results=true",
    )
