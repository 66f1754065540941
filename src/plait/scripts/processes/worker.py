"""One worker of the pool: a process and the wire to it. It runs at most one script at a time."""

from __future__ import annotations

import asyncio
import signal
from concurrent.futures import Executor, Future
from typing import NamedTuple

from plait.kernel.errors import Unavailable

from .errors import Died, OutOfTime
from .process import Process
from .program import Program
from .wire import Wire, WireClosed

_START_SECONDS = 30.0
_MAX_SCRIPTS = 10_000
"""Scripts after which a worker is replaced, so that leaks can't accumulate."""
_LAST_WORDS = ord("X")
_OUT_OF_TIME = frozenset({-signal.SIGALRM, -signal.SIGXCPU})


class Answer(NamedTuple):
    kind: bytes
    body: bytes
    printed: tuple[str, ...]
    """Lines that the script printed."""


class Worker:
    """Answers requests until it is killed, dies or reaches its limit of scripts."""

    def __init__(self, program: Program, process: Process, wire: Wire, reaper: Executor) -> None:
        self._program = program
        self._process = process
        self._wire = wire
        self._reaper = reaper
        self._scripts = 0
        self._ended = False

    @classmethod
    async def start(cls, program: Program, threads: Executor) -> Worker:
        """`threads` starts processes and waits for their end; both block."""
        loop = asyncio.get_running_loop()
        starting = threads.submit(Process, program)
        try:
            process = await asyncio.wrap_future(starting)
        except asyncio.CancelledError:
            # In the thread that starts it: the loop may be gone by then
            starting.add_done_callback(_discard_when_started)
            raise
        except OSError as error:
            raise _unavailable(program, str(error)) from error
        try:
            _, wire = await loop.create_unix_connection(Wire, sock=process.pipe)
        except BaseException:
            process.discard()
            raise
        worker = cls(program, process, wire, threads)
        await worker._greeted()
        return worker

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def usable(self) -> bool:
        return not self._ended and self._wire.open and self._scripts < _MAX_SCRIPTS and self._process.alive()

    async def ask(self, request: bytes, seconds: float) -> Answer:
        """The answer to a request. A worker that does not answer in time is killed."""
        self._scripts += 1
        answering = self._wire.ask(len(request).to_bytes(4, "big") + request)
        try:
            answer = await self._within(seconds, answering)
        except TimeoutError:
            raise OutOfTime(self._printed) from None
        except WireClosed:
            raise await self._post_mortem() from None
        if answer[0] == _LAST_WORDS:
            self.kill()
        return Answer(answer[:1], answer[1:], self._printed)

    def kill(self) -> None:
        """Kills it, whatever it is doing. A caller that waits for an answer gets an error."""
        if not self._ended:
            self._ended = True
            self._process.kill()
            self._wire.close()
            self._reaper.submit(self._process.wait)

    @property
    def _printed(self) -> tuple[str, ...]:
        return tuple(self._wire.printed)

    async def _greeted(self) -> None:
        try:
            await self._within(_START_SECONDS, self._wire.greeting())
        except TimeoutError:
            raise self._unavailable(f"a worker did not start within {_START_SECONDS:g} s") from None
        except WireClosed:
            self.kill()
            raise self._unavailable("a worker ended while it was starting") from None

    async def _within(self, seconds: float, answering: asyncio.Future[bytes]) -> bytes:
        """Kills the worker if the answer takes longer, or if the caller is cancelled."""
        timer = asyncio.get_running_loop().call_later(seconds, self._wire.expire)
        try:
            return await answering
        except (TimeoutError, asyncio.CancelledError):
            self.kill()
            raise
        finally:
            timer.cancel()

    async def _post_mortem(self) -> Exception:
        if self._ended:
            return self._unavailable("the pool of workers was stopped")
        loop = asyncio.get_running_loop()
        code = await loop.run_in_executor(self._reaper, self._process.wait)
        if code in _OUT_OF_TIME:
            return OutOfTime(self._printed)
        ended = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        return Died(f"the worker of this script died: {ended}", self._printed)

    def _unavailable(self, why: str) -> Unavailable:
        return _unavailable(self._program, why)


def _discard_when_started(starting: Future[Process]) -> None:
    if not starting.cancelled() and starting.exception() is None:
        starting.result().discard()


def _unavailable(program: Program, why: str) -> Unavailable:
    what = f"there is no worker for {program.language} scripts"
    return Unavailable(f"{program.code}.no_worker", what, why=why, fix="try again later")
