"""Says which code holds up the event loop. A thread of its own, because the loop can't tell while it is held up."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import time
import traceback

log = logging.getLogger("plait.watchdog")

LIMIT = 1.0
_BEAT = 0.25


class Watchdog:
    def __init__(self, limit: float = LIMIT) -> None:
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
            if silent > self._limit and beaten != said:
                said = beaten
                log.warning("the event loop has been blocked for %.1f s by %s", silent, self._culprit(loop, thread))

    def _culprit(self, loop: asyncio.AbstractEventLoop, thread: int) -> str:
        frame = sys._current_frames().get(thread)  # pyright: ignore[reportPrivateUsage]
        last = traceback.extract_stack(frame)[-1] if frame is not None else None
        where = f"{last.filename}:{last.lineno} in {last.name}" if last is not None else "unknown code"
        task = asyncio.current_task(loop)
        name = task.get_name() if task is not None else ""
        if name == "plait.loop":
            return f"a workflow function, now at {where}; put what takes long in a step"
        if ":" in name:
            run, _, step = name.partition(":")
            return f"step `{step}` of run {run}, now at {where}; make it a plain `def`, or await instead of blocking"
        return where
