"""HTTP requests, counted by the server as it answers."""

from __future__ import annotations

from .tally import LATENCIES, Tally

_ROUTES = 300
OTHER = "other"


class HttpMeter:
    def __init__(self) -> None:
        self.requests: dict[tuple[str, int], int] = {}
        self.seconds: dict[str, Tally] = {}

    def observe(self, route: str, status: int, seconds: float) -> None:
        """`route` is the pattern, as `GET /api/v1/runs/{id}`, never the path that was asked for."""
        if route not in self.seconds:
            if len(self.seconds) >= _ROUTES:  # someone gives paths: better a coarse number than a full memory
                route = OTHER
            self.seconds.setdefault(route, Tally(LATENCIES))
        key = (route, status)
        self.requests[key] = self.requests.get(key, 0) + 1
        self.seconds[route].add(seconds)
