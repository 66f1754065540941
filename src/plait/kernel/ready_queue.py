"""What the next round of the run loop takes: runs that have inputs, and writes from outside any run."""

from __future__ import annotations

import asyncio
from collections import deque

import msgspec

from .errors import PlaitError
from .inputs import AnyInput
from .run import Run
from .store import Verdict, Write
from .unit_of_work import UnitOfWork


class Entry(msgspec.Struct):
    """A write on its way to disk: of a run's decision, or of a caller who waits for it.

    Not without `gc`, as other structs are: where a commit fails for good, the failure's frames hold the entries, and
    these the run, and it the loop that keeps the failure.
    """

    write: Write
    run: Run | None = None
    unit: UnitOfWork | None = None
    done: asyncio.Future[Verdict] | None = None
    """Without a run and a caller it is owed to the log: it is tried until it is there."""


class ReadyQueue:
    def __init__(self) -> None:
        self.runs: deque[Run] = deque()
        self.entries: list[Entry] = []
        self._bell: asyncio.Future[None] | None = None

    def __bool__(self) -> bool:
        return bool(self.runs or self.entries)

    def post(self, run: Run, input: AnyInput, key: str | None = None) -> None:
        """Puts an input into a run's mailbox."""
        run.mailbox.append((input, key))
        if not run.queued:
            run.queued = True
            self.runs.append(run)
            if self._bell is not None:
                self.ring()

    def again(self, run: Run) -> None:
        """Its write is on disk: what came meanwhile is for the next round."""
        if run.mailbox and not run.queued:
            run.queued = True
            self.runs.append(run)

    def append(self, write: Write) -> asyncio.Future[Verdict]:
        """A write from outside any run: durable when this is done."""
        done: asyncio.Future[Verdict] = asyncio.get_running_loop().create_future()
        self.add(Entry(write, done=done))
        return done

    def owe(self, write: Write) -> None:
        """A write that must get to disk, before anything that is decided from now on."""
        self.add(Entry(write))

    def add(self, entry: Entry) -> None:
        self.entries.append(entry)
        if self._bell is not None:
            self.ring()

    def take(self) -> list[Entry]:
        found, self.entries = self.entries, []
        return found

    async def wait(self) -> None:
        """Until there is something to do, or the bell is rung."""
        self._bell = asyncio.get_running_loop().create_future()
        await self._bell

    def ring(self) -> None:
        bell, self._bell = self._bell, None
        if bell is not None and not bell.done():
            bell.set_result(None)

    def abandon(self, error: PlaitError) -> None:
        """The engine stops: whoever waits for a write is told."""
        for entry in self.take():
            tell(entry, error)


def tell(entry: Entry, error: PlaitError) -> None:
    if entry.done is not None and not entry.done.done():
        entry.done.set_exception(error)
