"""What the load process is told, and what it answers."""

from __future__ import annotations

from pathlib import Path

import msgspec

REPOSITORY = Path(__file__).parents[2]
API = "/api/v1"


def run_id(number: int) -> str:
    """Of a run of the load: known before it is started, so that it can be asked for again."""
    return f"load-{number}"


class Order(msgspec.Struct, frozen=True, kw_only=True):
    port: int
    key: str
    rate: float
    seconds: float
    watchers: int
    retrying: bool
    """Whether requests that find no server are sent again, with the same id."""
    acknowledged: str
    """The file that gets the number of each acknowledged run."""

    @property
    def requests(self) -> int:
        return round(self.rate * self.seconds)


class Lags(msgspec.Struct, frozen=True, kw_only=True):
    """Milliseconds."""

    count: int
    p50: float
    p95: float
    p99: float
    max: float

    @classmethod
    def of(cls, seconds: list[float]) -> Lags:
        found = sorted(seconds) or [0.0]

        def at(share: float) -> float:
            return round(found[min(len(found) - 1, int(share * len(found)))] * 1000, 2)

        return cls(count=len(seconds), p50=at(0.5), p95=at(0.95), p99=at(0.99), max=at(1.0))


class Report(msgspec.Struct, frozen=True, kw_only=True):
    requests: int
    acknowledged: int
    errors: dict[str, int]
    retries: int
    seconds: float
    """From the first scheduled request to the last answer."""
    latency: Lags
    """From the moment a request was due, not from when it could be sent."""
    late: Lags
    """How late the load process itself was in sending: large values mean that it, not the server, was slow."""
    pause: float
    """The longest time without an acknowledgement, in seconds."""
    live: int
    """Watchers that heard something in the last seconds of the load."""
    frames: int
    lag: Lags
    """From the time in an event to its arrival."""
    list_lag: Lags
    """From the newest change on a page of the live list to its arrival."""
    gaps: int
    repeated: int
    reconnects: int
    stale: int
    """Live lists that are not what the list says once all is quiet."""
    unfinished: int
    """Watched runs whose end was not told."""
    troubles: list[str]
    """The first few things that went wrong, in words."""
