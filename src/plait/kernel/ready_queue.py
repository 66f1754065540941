"""Work for the next round of the run loop: runs with inputs, and writes from outside any run."""

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
    """A write on its way to disk: a run's decision, or a write that a caller waits for.

    Unlike other structs it is tracked by the garbage collector: if a commit fails for good, the failure's frames hold
    the entries, these the run, and the run the loop that keeps the failure.
    """

    write: Write
    run: Run | None = None
    unit: UnitOfWork | None = None
    done: asyncio.Future[Verdict] | None = None
    """An entry with neither run nor caller is owed to the log: it is retried until it is committed."""


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
        """Schedules the run again if inputs arrived during its commit."""
        if run.mailbox and not run.queued:
            run.queued = True
            self.runs.append(run)

    def append(self, write: Write) -> asyncio.Future[Verdict]:
        """A write from outside any run: durable when the future is done."""
        done: asyncio.Future[Verdict] = asyncio.get_running_loop().create_future()
        self.add(Entry(write, done=done))
        return done

    def owe(self, write: Write) -> None:
        """A write that must reach the disk, before any later decision."""
        self.add(Entry(write))

    def add(self, entry: Entry) -> None:
        self.entries.append(entry)
        if self._bell is not None:
            self.ring()

    def take(self) -> list[Entry]:
        found, self.entries = self.entries, []
        return found

    async def wait(self) -> None:
        """Waits until there is something to do, or `ring` is called."""
        self._bell = asyncio.get_running_loop().create_future()
        await self._bell

    def ring(self) -> None:
        bell, self._bell = self._bell, None
        if bell is not None and not bell.done():
            bell.set_result(None)

    def abandon(self, error: PlaitError) -> None:
        """Fails all callers that wait for a write, because the engine stops."""
        for entry in self.take():
            tell(entry, error)


def tell(entry: Entry, error: PlaitError) -> None:
    if entry.done is not None and not entry.done.done():
        entry.done.set_exception(error)
