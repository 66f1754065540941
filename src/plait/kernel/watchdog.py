"""Reports which code blocks the event loop, from a separate thread."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import time
import traceback
from collections.abc import Callable
from types import FrameType
from typing import Any

from .advance import advance

log = logging.getLogger("plait.watchdog")

LIMIT = 1.0
_BEAT = 0.25


NameOf = Callable[[asyncio.Task[Any]], str | None]
"""Describes an asyncio task; None if unknown."""


class Watchdog:
    def __init__(self, name_of: NameOf, limit: float = LIMIT) -> None:
        self._name_of = name_of
        self._limit = limit
        self._beaten = 0.0
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        loop = asyncio.get_running_loop()
        self._beat(loop)
        self._thread = threading.Thread(
            target=self._watch, args=(loop, threading.get_ident()), name="plait-watchdog", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        if self._timer is not None:
            self._timer.cancel()
        if self._thread is not None:
            self._thread.join()

    def _beat(self, loop: asyncio.AbstractEventLoop) -> None:
        self._beaten = time.monotonic()
        self._timer = loop.call_later(_BEAT, self._beat, loop)

    def _watch(self, loop: asyncio.AbstractEventLoop, thread: int) -> None:
        said = 0.0
        while not self._stop.wait(_BEAT):
            beaten = self._beaten
            silent = time.monotonic() - beaten
            if silent <= self._limit or beaten == said:
                continue
            frame = sys._current_frames().get(thread)  # pyright: ignore[reportPrivateUsage]
            if frame is None or not _is_idle(frame):
                said = beaten
                log.warning("the event loop has been blocked for %.1f s by %s", silent, self._culprit(loop, frame))

    def _culprit(self, loop: asyncio.AbstractEventLoop, frame: FrameType | None) -> str:
        stack: list[traceback.FrameSummary] = list(traceback.extract_stack(frame)) if frame is not None else []
        where = f"{stack[-1].filename}:{stack[-1].lineno} in {stack[-1].name}" if stack else "unknown code"
        if any((entry.filename, entry.name) == _DECIDING for entry in stack):
            return f"a workflow function, now at {where}; put what takes long in a step"
        task = asyncio.current_task(loop)
        name = self._name_of(task) if task is not None else None
        if name is not None:
            return f"{name}, now at {where}; make it a plain `def`, or await instead of blocking"
        return where


def _is_idle(frame: FrameType) -> bool:
    """Whether the loop waits for work. It never waits longer than a beat, so if it seems to, the machine gave the
    process no time, and no code is to blame."""
    back = frame.f_back
    if frame.f_code is _RUN:  # a loop that is not written in Python, like uvloop
        return True
    return back is not None and back.f_code is _RUN_ONCE and frame.f_code.co_name == "select"


_RUN = asyncio.Runner.run.__code__
_RUN_ONCE = asyncio.BaseEventLoop._run_once.__code__  # pyright: ignore

_DECIDING = (advance.__code__.co_filename, advance.__code__.co_name)
"""Where the run loop lets machines decide: user code above it on the stack is a workflow's."""
