"""Progress of a recorded call: reports of its tool are passed on to the client that waits for it.

The tool runs in the recording's owner, which may be another process: its reports are in the log of its task, and are
read from there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, TypeVar

from plait.api.mcp_tool import Api, ToolCall
from plait.api.progress_line import read_progress
from plait.api.run_waiting import run_path
from plait.dialects.refs.running.call_feed import FEED
from plait.kernel.errors import PlaitError

T = TypeVar("T")

_FIRST: Final = 0.1
_LONGEST: Final = 1.0
"""Seconds between two polls."""
_STEPS: Final = "steps_by_call"


async def with_progress(call: ToolCall, run: str, key: str, asking: Awaitable[T]) -> T:
    """Awaits `asking`; meanwhile it reports the tool's progress to the client, if the client wants that."""
    waiting = asyncio.ensure_future(asking)
    relay = _Relay(call, run, key)
    pause = _FIRST
    try:
        while call.wants_progress:
            done, _ = await asyncio.wait({waiting}, timeout=pause)
            if done:
                break
            told = False
            with suppress(PlaitError):  # progress must not fail the call itself
                told = await relay.tell()
            pause = _FIRST if told else min(2 * pause, _LONGEST)
        return await waiting
    finally:
        waiting.cancel()


class _Relay:
    def __init__(self, call: ToolCall, run: str, key: str) -> None:
        self._call = call
        self._run = run
        self._key = key
        self._step = ""
        """The step of this call, once it is recorded."""
        self._line = 0

    async def tell(self) -> bool:
        """Reports what is new; returns False if nothing is."""
        api = self._call.api
        self._step = self._step or await self._find_step(api)
        if not self._step:
            return False
        query = {"node": self._step, "after": self._line}
        page = await api.get(run_path(self._run, "logs"), query)
        told = False
        for line in page["lines"]:
            self._line = line["id"]
            if (found := read_progress(line["text"])) is not None:
                await self._call.report(found.progress, found.total, found.message or "")
                told = True
        return told

    async def _find_step(self, api: Api) -> str:
        """Reads each event once per session, however long the recording is and whichever call looks for its step."""
        known: _Steps = self._call.session.memory.setdefault(_STEPS, _Steps())
        after: int | None = known.after
        while after is not None:
            page = await api.get(run_path(self._run, "events"), {"feed": FEED, "after": after})
            for event in page["events"]:
                known.by_call[event["data"]["call"]] = event["data"]["step"]
                known.after = max(known.after, event["seq"])
            after = page.get("next")
        return known.by_call.get(self._key, "")


@dataclass(slots=True)
class _Steps:
    """The steps of the session's recording that have been read so far."""

    by_call: dict[str, str] = field(default_factory=dict[str, str])
    after: int = 0
