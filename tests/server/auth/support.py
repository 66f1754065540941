"""What tests of the door need: a clock to move, requests as browsers and programs send them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from starlette.requests import Request

from plait import Engine
from plait.kernel.clock import SystemClock
from plait.kernel.ids import Millis
from plait.kernel.records import Record, Records
from plait.server.auth.ttl_cache import SECONDS


class HandClock(SystemClock):
    """The real clock, moved by hand."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def forward(self, seconds: float) -> None:
        self.ahead += seconds

    def now(self) -> Millis:
        return Millis(super().now() + round(self.ahead * 1000))

    def monotonic(self) -> float:
        return super().monotonic() + self.ahead


async def use_steadily(clock: HandClock, use: Callable[[], Awaitable[object]]) -> None:
    """For longer than anything is remembered, but never with a pause of that length."""
    for _ in range(30):
        clock.forward(SECONDS / 10)
        await use()


class WatchedRecords(Records):
    """Real records that count what they are asked, and fail when told to."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine.kernel.store, engine.kernel)
        self.gets: list[tuple[str, str]] = []
        self.puts: list[Record] = []
        self.fail_put: dict[str, Exception] = {}
        """By kind: raised instead of the next write."""

    async def get(self, kind: str, namespace: str, id: str) -> Record | None:
        self.gets.append((kind, id))
        return await super().get(kind, namespace, id)

    def put(self, record: Record) -> Awaitable[object]:
        self._note(record)
        return super().put(record)

    async def add(self, record: Record) -> bool:
        self._note(record)
        return await super().add(record)

    def _note(self, record: Record) -> None:
        if (error := self.fail_put.pop(record.kind, None)) is not None:
            raise error
        self.puts.append(record)


def request(
    method: str = "GET",
    *,
    headers: Mapping[str, str] | None = None,
    cookies: Mapping[str, str] | None = None,
    address: str = "192.0.2.7",
    scheme: str = "http",
) -> Request:
    given = {"host": "plait.example"} | dict(headers or {})
    if cookies:
        given["cookie"] = "; ".join(f"{name}={value}" for name, value in cookies.items())
    return Request(
        {
            "type": "http",
            "method": method,
            "path": "/api/v1/runs",
            "query_string": b"",
            "scheme": scheme,
            "server": ("plait.example", 80),
            "client": (address, 50_000),
            "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in given.items()],
        }
    )


def bearer(text: str) -> dict[str, str]:
    return {"authorization": f"Bearer {text}"}


def cookies_of(set_cookies: tuple[str, ...]) -> dict[str, str]:
    """What a browser sends after it got these."""
    pairs = (text.partition(";")[0].partition("=") for text in set_cookies)
    return {name: value for name, _, value in pairs}
