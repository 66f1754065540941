"""A token bucket per name, in bounded memory."""

from __future__ import annotations

import ipaddress
from collections import OrderedDict

from plait.kernel.clock import Clock


class RateLimit:
    def __init__(self, clock: Clock, *, burst: float, per_second: float, most: int = 10_000) -> None:
        self._clock = clock
        self._burst = burst
        self._rate = per_second
        self._most = most
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """Tokens left per name, and when they were counted. The least recently used entry is dropped first."""

    def take(self, name: str) -> float:
        """Takes a token; returns 0 if there was one, otherwise the seconds until there is."""
        now = self._clock.monotonic()
        left, at = self._buckets.get(name, (self._burst, now))
        left = min(self._burst, left + (now - at) * self._rate)
        wait = 0.0 if left >= 1 else (1 - left) / self._rate
        self._buckets[name] = (left if wait else left - 1, now)
        self._buckets.move_to_end(name)
        if len(self._buckets) > self._most:
            self._buckets.popitem(last=False)
        return wait

    def __len__(self) -> int:
        return len(self._buckets)


def place_of(address: str) -> str:
    """Returns the name that a network address is counted under: whoever has one IPv6 address has 2**64 of them."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address[:100]
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped is not None:
            return str(found.ipv4_mapped)
        return str(ipaddress.ip_network((found, 64), strict=False))
    return str(found)
