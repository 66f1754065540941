"""The run loop: decide, commit, dispatch; over and over, for all runs of this engine together.

Whatever is ready when a round begins is decided and goes to disk as one transaction (group commit).
While that is under way new results pile up; they are the next round. A run's effects start only when
its own decision is durable. A run whose commit was refused is dropped from memory, never patched up.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from .clock import Clock
from .draft import Draft
from .errors import PlaitError, Unavailable
from .inputs import AnyInput
from .limits import Limits
from .run import Run
from .store import Store, Verdict, Write

log = logging.getLogger("plait.kernel")

_RUNS_AT_ONCE = 512
"""Runs decided before a commit: keeps the event loop responsive."""
_LONGEST_WAIT = 2.0


@dataclass(frozen=True, slots=True)
class Hooks:
    """What the rest of the kernel does when something is on disk, or is not."""

    committed: Callable[[Run, Draft, Write], None]
    refused: Callable[[Run, Draft, Verdict], None]
    failed: Callable[[Run, Draft, PlaitError], None]
    broken: Callable[[Run], None]
    appended: Callable[[Write], None]


@dataclass(slots=True)
class _Outside:
    write: Write
    done: asyncio.Future[Verdict]


class RunLoop:
    def __init__(self, store: Store, clock: Clock, limits: Limits, hooks: Hooks) -> None:
        self._store = store
        self._clock = clock
        self._limits = limits
        self._hooks = hooks
        self._ready: deque[Run] = deque()
        self._outside: list[_Outside] = []
        self._under_way: list[_Outside] = []
        self._bell: asyncio.Future[None] | None = None
        self._stopping = False
        self.committing = False
        self.beats = 0
        """Grows with every round; the watchdog looks at it."""

    def post(self, run: Run, input: AnyInput, key: str | None = None) -> None:
        """Puts an input into a run's mailbox."""
        run.mailbox.append((input, key))
        if not run.queued:
            run.queued = True
            self._ready.append(run)
            self._ring()

    async def append(self, write: Write) -> Verdict:
        """A write from outside any run: durable when this returns."""
        entry = _Outside(write, asyncio.get_running_loop().create_future())
        self._outside.append(entry)
        self._ring()
        return await entry.done

    @property
    def idle(self) -> bool:
        return not (self._ready or self._outside or self.committing)

    def stop(self) -> None:
        """Ends `main` after the commit that is under way."""
        self._stopping = True
        self._ring()

    async def main(self) -> None:
        """Runs until it is stopped, or a crash is simulated."""
        while not self._stopping:
            if not (self._ready or self._outside):
                self._bell = asyncio.get_running_loop().create_future()
                await self._bell
            self.beats += 1
            outside, self._outside = self._outside, []
            self._under_way = outside
            drafts = self._decide()
            if drafts or outside:
                self.committing = True
                await self._commit(drafts, outside)
                self.committing = False
            await asyncio.sleep(0)  # let tasks that were just started run

    def _ring(self) -> None:
        if self._bell is not None and not self._bell.done():
            self._bell.set_result(None)

    def _decide(self) -> list[tuple[Run, Draft]]:
        drafts: list[tuple[Run, Draft]] = []
        now = self._clock.now()
        ready = self._ready
        for _ in range(min(len(ready), _RUNS_AT_ONCE)):
            run = ready.popleft()
            if not run.mailbox:  # dropped meanwhile
                run.queued = False
                continue
            try:
                draft = run.advance(now)
            except Exception:
                log.critical("run %s could not be advanced; it is left as the log has it", run.id, exc_info=True)
                self._hooks.broken(run)
                continue
            if draft.empty:
                run.queued = False
                # Nothing to write, but what is durable already may have to be started again
                self._hooks.committed(run, draft, Write(run.id, run.shard, run.epoch))
                self._requeue(run)
            else:
                drafts.append((run, draft))
        return drafts

    async def _commit(self, drafts: list[tuple[Run, Draft]], outside: list[_Outside]) -> None:
        writes = [draft.write(self._limits.blob_threshold) for _, draft in drafts]
        wait = 0.05
        while True:
            batch = [entry.write for entry in outside] + writes
            try:
                verdicts = await self._store.commit(batch)
                break
            except Unavailable as error:
                drafts, writes = self._fail_callers(drafts, writes, outside, error)
                outside = []
                if not drafts or self._stopping:
                    return
                log.error("could not commit, will try again in %.2f s: %s", wait, error)
                await self._sleep(wait)
                wait = min(wait * 2, _LONGEST_WAIT)
        for entry, verdict in zip(outside, verdicts, strict=False):
            self._answer(entry, verdict)
        for (run, draft), write, verdict in zip(drafts, writes, verdicts[len(outside) :], strict=True):
            run.queued = False
            if verdict == "ok":
                self._hooks.committed(run, draft, write)
                self._requeue(run)
            else:
                self._hooks.refused(run, draft, verdict)

    def _requeue(self, run: Run) -> None:
        if run.mailbox and not run.queued:
            run.queued = True
            self._ready.append(run)

    def _answer(self, entry: _Outside, verdict: Verdict) -> None:
        if verdict == "ok":
            self._hooks.appended(entry.write)
        if not entry.done.done():
            entry.done.set_result(verdict)

    def _fail_callers(
        self, drafts: list[tuple[Run, Draft]], writes: list[Write], outside: list[_Outside], error: Unavailable
    ) -> tuple[list[tuple[Run, Draft]], list[Write]]:
        """Someone waits for these and can be told; everything else is owed to the log and must get there."""
        for entry in outside:
            if not entry.done.done():
                entry.done.set_exception(error)
        kept: list[tuple[Run, Draft]] = []
        kept_writes: list[Write] = []
        for (run, draft), write in zip(drafts, writes, strict=True):
            if draft.create is not None:
                run.queued = False
                self._hooks.failed(run, draft, error)
            else:
                kept.append((run, draft))
                kept_writes.append(write)
        return kept, kept_writes

    async def _sleep(self, seconds: float) -> None:
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._clock.call_later(seconds, lambda: woken.done() or woken.set_result(None))
        await woken

    def abandon(self, error: PlaitError) -> None:
        """The engine stops: whoever waits for a write is told."""
        for entry in [*self._under_way, *self._outside]:
            if not entry.done.done():
                entry.done.set_exception(error)
        self._outside.clear()
