"""Watchers of live streams, of three kinds, who check what they are told.

Some follow runs that go on all the time, some follow one new run after the other from its first event to its end,
some keep a live list. Each knows what must come next, so it sees every gap and every repetition.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from bench.api.client import Broken, Client
from bench.api.orders import API, Order, run_id
from bench.api.stream import Frame, watching

LIST = "/runs?definition=three"
_PULSE_WATCHERS = 4
"""Who watch the same run."""
_RECONNECT = 0.1
_FOLLOW_EVERY = 1.0


class Event(msgspec.Struct):
    seq: int
    at: int


class Row(msgspec.Struct):
    id: str
    status: str
    created_at: int
    ended_at: int = 0


class Page(msgspec.Struct):
    runs: list[Row]
    gone: list[str] = []


_event = msgspec.json.Decoder(Event).decode
_page = msgspec.json.Decoder(Page).decode


@dataclass
class Seen:
    """What all watchers together noticed."""

    frames: int = 0
    gaps: int = 0
    repeated: int = 0
    reconnects: int = 0
    lags: list[float] = field(default_factory=list[float])
    list_lags: list[float] = field(default_factory=list[float])
    troubles: list[str] = field(default_factory=list[str])

    def trouble(self, text: str) -> None:
        if len(self.troubles) < 20:
            self.troubles.append(text)


class Watchers:
    def __init__(self, order: Order, client: Client) -> None:
        self.seen = Seen()
        self.newest = 0
        """The number of the last acknowledged run."""
        self._order = order
        self._client = client
        self._tasks: dict[str, asyncio.Task[Any]] = {}
        self._heard: dict[str, float] = {}
        self._pages: dict[str, dict[str, Row]] = {}
        self._ends: set[str] = set()
        self._over = asyncio.Event()

    # -- the whole crowd -----------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Three fifths follow runs that go on, one fifth new runs, one fifth the list."""
        count = self._order.watchers
        following, listing = count // 5, count // 5
        pulses = count - following - listing
        beats = max(1, round(self._order.seconds))
        for number in range((pulses + _PULSE_WATCHERS - 1) // _PULSE_WATCHERS):
            body = msgspec.json.encode({"definition": "pulse", "input": beats, "id": f"pulse-{number}"})
            status, answer = await self._client.post("/runs", body)
            if status not in (200, 201):
                self.seen.trouble(f"pulse: {answer[:200].decode()}")
        for number in range(pulses):
            self._watch(f"pulse {number}", self._pulse, f"pulse-{number // _PULSE_WATCHERS}")
        for number in range(following):
            self._watch(f"new {number}", self._new_runs, "")
        for number in range(listing):
            self._watch(f"list {number}", self._list, "")

    def _watch(self, name: str, watch: Callable[[str, str], Awaitable[None]], target: str) -> None:
        self._heard[name] = 0.0
        self._tasks[name] = asyncio.ensure_future(watch(name, target))

    def live(self, within: float) -> int:
        """How many heard something lately, or were told the end of what they watched."""
        since = time.time() - within
        return sum(name in self._ends or heard >= since for name, heard in self._heard.items())

    async def finish(self, patience: float) -> None:
        """Lets those who follow one run hear its end; the others stop."""
        self._over.set()
        ending = [task for name, task in self._tasks.items() if not name.startswith("list")]
        if ending:
            await asyncio.wait(ending, timeout=patience)

    async def stale(self, patience: float) -> int:
        """Lists that are not what the API says, now that nothing changes any more; the last news may take a moment."""
        until = time.monotonic() + patience
        while (count := await self._stale()) and time.monotonic() < until:
            await asyncio.sleep(0.2)
        return count

    async def _stale(self) -> int:
        status, body = await self._client.get(LIST)
        if status != 200:
            return len(self._pages)
        expected = {row.id: row.status for row in _page(body).runs}
        found = [{id: row.status for id, row in page.items()} for page in self._pages.values()]
        return sum(page != expected for page in found)

    @property
    def unfinished(self) -> int:
        return sum(name.startswith("pulse") and name not in self._ends for name in self._tasks)

    async def stop(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    # -- one watcher of each kind --------------------------------------------------------------------------------

    async def _pulse(self, name: str, id: str) -> None:
        await self._to_the_end(name, id, lags=True)
        self._ends.add(name)

    async def _new_runs(self, name: str, _: str) -> None:
        while not self._over.is_set():
            if self.newest:
                await self._to_the_end(name, run_id(self.newest), lags=False)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._over.wait(), _FOLLOW_EVERY)
        self._ends.add(name)

    async def _to_the_end(self, name: str, id: str, *, lags: bool) -> None:
        last = 0
        ended = False
        while not ended:
            async with contextlib.aclosing(self._frames(f"/runs/{id}/events", last)) as frames:
                async for frame in frames:
                    self._hear(name)
                    if frame.event == "end":
                        ended = True
                        break
                    last = self._next(name, last, frame, lags=lags)

    def _next(self, name: str, last: int, frame: Frame, *, lags: bool) -> int:
        event = _event(frame.data)
        if lags:
            self.seen.lags.append(max(0.0, time.time() - event.at / 1000))
        if event.seq <= last:
            self.seen.repeated += 1
            self.seen.trouble(f"{name}: event {event.seq} again after {last}")
        elif event.seq > last + 1:
            self.seen.gaps += 1
            self.seen.trouble(f"{name}: event {event.seq} after {last}")
        return event.seq

    async def _list(self, name: str, _: str) -> None:
        page: dict[str, Row] = {}
        self._pages[name] = page
        while True:
            async with contextlib.aclosing(self._frames(LIST)) as frames:
                async for frame in frames:
                    self._hear(name)
                    self._turn(page, frame)

    def _turn(self, page: dict[str, Row], frame: Frame) -> None:
        turn = _page(frame.data)
        if frame.event == "snapshot":
            page.clear()
        for id in turn.gone:
            page.pop(id, None)
        page.update((row.id, row) for row in turn.runs)
        newest = max((max(row.created_at, row.ended_at) for row in turn.runs), default=0)
        if newest and frame.event == "changes":
            self.seen.list_lags.append(max(0.0, time.time() - newest / 1000))

    async def _frames(self, path: str, last: int = 0) -> AsyncGenerator[Frame]:
        """Frames of one connection; when it breaks, a short pause before the caller asks again."""
        try:
            async with watching(self._order.port, self._client.common, path, last) as frames:
                async for frame in frames:
                    yield frame
        except Broken as error:
            if not self._order.retrying:
                self.seen.trouble(f"{API}{path}: {error}")
        self.seen.reconnects += 1
        await asyncio.sleep(_RECONNECT)

    def _hear(self, name: str) -> None:
        self.seen.frames += 1
        self._heard[name] = time.time()
