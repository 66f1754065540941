"""The load process: so many requests a second, whether or not the server keeps up, and watchers beside them.

Each request has a moment at which it is due. Its latency counts from there, so a server that stalls for a second is
seen to have made a thousand requests late, and not one.
"""

from __future__ import annotations

import asyncio
import collections
import itertools
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import uvloop

from bench.api.client import Broken, Client
from bench.api.orders import Lags, Order, Report, run_id
from bench.api.watchers import Watchers

CONNECTIONS = 256
LIVE_WITHIN = 5.0
DRAIN = 60.0
STALE = 10.0
_RETRY = 0.05
_LATER = (429, 503)


@dataclass
class Tally:
    acknowledged: list[int] = field(default_factory=list[int])
    latencies: list[float] = field(default_factory=list[float])
    late: list[float] = field(default_factory=list[float])
    moments: list[float] = field(default_factory=list[float])
    errors: collections.Counter[str] = field(default_factory=collections.Counter[str])
    retries: int = 0


class Load:
    def __init__(self, order: Order) -> None:
        self._order = order
        self._client = Client(order.port, order.key, CONNECTIONS)
        self._watchers = Watchers(order, Client(order.port, order.key, 8))
        self._tally = Tally()

    async def run(self) -> Report:
        order, tally, watchers = self._order, self._tally, self._watchers
        await watchers.start()
        began = time.perf_counter()
        await self._send_all(began)
        seconds = time.perf_counter() - began
        live = watchers.live(LIVE_WITHIN)
        _keep(order.acknowledged, tally.acknowledged)
        await self._quiet()
        await watchers.finish(DRAIN)
        stale = await watchers.stale(STALE) if order.watchers else 0
        await watchers.stop()
        self._client.close()
        return self._report(seconds, live, stale)

    async def _send_all(self, began: float) -> None:
        order = self._order
        under_way: set[asyncio.Task[None]] = set()
        for number in range(1, order.requests + 1):
            due = began + (number - 1) / order.rate
            if (wait := due - time.perf_counter()) > 0:
                await asyncio.sleep(wait)
            task = asyncio.create_task(self._one(number, due))
            under_way.add(task)
            task.add_done_callback(under_way.discard)
        await self._end(under_way)

    async def _end(self, under_way: set[asyncio.Task[None]]) -> None:
        """What is not answered a good while after the last one was due never is."""
        if under_way:
            await asyncio.wait(under_way, timeout=DRAIN)
        left = list(under_way)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        if left:
            self._tally.errors[f"no answer {DRAIN:.0f} s after the end"] += len(left)

    async def _one(self, number: int, due: float) -> None:
        tally = self._tally
        body = msgspec.json.encode({"definition": "three", "input": number, "id": run_id(number)})
        tally.late.append(time.perf_counter() - due)
        while (error := await self._try(body)) is not None:
            if not self._order.retrying or not error.startswith("again"):
                tally.errors[error] += 1
                return
            tally.retries += 1
            await asyncio.sleep(_RETRY)
        now = time.perf_counter()
        tally.acknowledged.append(number)
        tally.latencies.append(now - due)
        tally.moments.append(now)
        self._watchers.newest = number

    async def _try(self, body: bytes) -> str | None:
        """None when it was acknowledged."""
        try:
            status, answer = await self._client.post("/runs", body)
        except Broken as error:
            return f"again: {error}"
        if status in (200, 201):
            return None
        return f"{'again: ' if status in _LATER else ''}{status} {answer[:200].decode(errors='replace')}"

    async def _quiet(self) -> None:
        """Until no run of the load is under way: asked of the server, within a bound."""
        until = time.perf_counter() + DRAIN
        while time.perf_counter() < until:
            try:
                status, body = await self._client.get("/runs?definition=three&status=running&limit=1")
            except Broken:
                status, body = 0, b""
            if status == 200 and not msgspec.json.decode(body)["runs"]:
                return
            await asyncio.sleep(0.2)

    def _report(self, seconds: float, live: int, stale: int) -> Report:
        tally, watchers = self._tally, self._watchers
        moments = sorted(tally.moments)
        seen = watchers.seen
        return Report(
            requests=self._order.requests,
            acknowledged=len(tally.acknowledged),
            errors=dict(tally.errors),
            retries=tally.retries,
            seconds=seconds,
            latency=Lags.of(tally.latencies),
            late=Lags.of(tally.late),
            pause=max((b - a for a, b in itertools.pairwise(moments)), default=0.0),
            live=live,
            frames=seen.frames,
            lag=Lags.of(seen.lags),
            list_lag=Lags.of(seen.list_lags),
            gaps=seen.gaps,
            repeated=seen.repeated,
            reconnects=seen.reconnects,
            stale=stale,
            unfinished=watchers.unfinished,
            troubles=seen.troubles,
        )


def _keep(path: str, numbers: list[int]) -> None:
    Path(path).write_text("\n".join(map(str, numbers)))


def main() -> None:
    order = msgspec.json.decode(sys.argv[1], type=Order)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        report = runner.run(Load(order).run())
    sys.stdout.buffer.write(msgspec.json.encode(report) + b"\n")


if __name__ == "__main__":
    main()
