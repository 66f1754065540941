"""Runs several server processes behind one listening socket: starts them, restarts those that die, stops them together.

    Supervisor ──fork──> process ─┐
        │                process ─┼─ accept from the same socket
        └──────────────> process ─┘

Processes are forked before any user code is loaded, so each loads its own. The first must be ready before the others
start, so that a problem with the code or the database is reported once. A process that loses its supervisor stops.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType

log = logging.getLogger("plait.server")

_STOPPING = (signal.SIGINT, signal.SIGTERM)
_HANDLED = (*_STOPPING, signal.SIGCHLD)
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 5.0
_LONG_LIFE = 10.0
"""Seconds after which a process that dies is restarted at once, without a pause."""


@dataclass(frozen=True, slots=True)
class Link:
    """A process's ends of the pipes to its supervisor."""

    ready_pipe: int
    life_pipe: int

    def tell_ready(self) -> None:
        """Tells the supervisor that this process serves."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self.ready_pipe, b"!")
        os.close(self.ready_pipe)

    def when_alone(self, stop: Callable[[], None]) -> None:
        """Calls `stop` once the supervisor is gone, and logs why."""

        def alone() -> None:
            self.let_go()  # otherwise the loop would call this again and again
            log.error("the process that supervises this one is gone; it stops, and other engines take over its runs")
            stop()

        asyncio.get_running_loop().add_reader(self.life_pipe, alone)

    def let_go(self) -> None:
        asyncio.get_running_loop().remove_reader(self.life_pipe)


@dataclass(slots=True)
class _Process:
    pid: int
    ready_pipe: int
    began: float
    ready: bool = False


@dataclass(slots=True)
class Supervisor:
    count: int
    stop_listening: Callable[[], None]
    """Called when all stop, so that no client waits in a backlog that no process accepts from."""
    announce: Callable[[list[int]], None]
    """Called once with the process ids, when all are ready."""
    _processes: list[_Process] = field(default_factory=list[_Process])
    _wake: tuple[int, int] = (-1, -1)
    _life: tuple[int, int] = (-1, -1)
    """A pipe whose end here closes when the supervisor exits, however that happens."""
    _signals: int = 0
    _pause: float = 0.0
    _due: float = 0.0
    """The monotonic time from which the next process may start."""
    _announced: bool = False
    _code: int = 0

    @property
    def announced(self) -> bool:
        """Whether all processes have been ready at least once."""
        return self._announced

    def run(self) -> Link | int:
        """Returns the link in each forked process; in the supervisor, returns the exit code when all have ended."""
        self._wake, self._life = os.pipe(), os.pipe()
        for end in self._wake:
            os.set_blocking(end, False)
        for each in _HANDLED:
            signal.signal(each, self._take)
        signal.set_wakeup_fd(self._wake[1], warn_on_full_buffer=False)
        while True:
            if self._is_due() and (link := self._start()) is not None:
                return link
            if self._signals and not self._processes:
                return self._code
            self._wait()
            self._reap()

    # -- starting ------------------------------------------------------------------------------------------------

    def _is_due(self) -> bool:
        if self._signals or len(self._processes) >= self.count or time.monotonic() < self._due:
            return False
        return not self._processes or self._announced or any(process.ready for process in self._processes)

    def _start(self) -> Link | None:
        """Forks a process; returns its link in the child, None in the supervisor."""
        receives, sends = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        signal.pthread_sigmask(signal.SIG_BLOCK, _HANDLED)  # until each process has its own handlers
        pid = os.fork()
        if pid == 0:
            _leave_signals()
            others = [process.ready_pipe for process in self._processes if not process.ready]
            for end in (receives, *self._wake, self._life[1], *others):
                os.close(end)
            return Link(sends, self._life[0])
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _HANDLED)
        os.close(sends)
        self._processes.append(_Process(pid, receives, time.monotonic()))
        return None

    # -- watching ------------------------------------------------------------------------------------------------

    def _take(self, signum: int, _frame: FrameType | None) -> None:
        if signum in _STOPPING:
            self._stop(signal.SIGTERM if not self._signals else signal.SIGKILL)

    def _stop(self, how: signal.Signals) -> None:
        self._signals += 1
        self.stop_listening()
        for process in self._processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, how)

    def _wait(self) -> None:
        """Waits until a signal arrives, a process is ready, or a start is due."""
        unready = [process for process in self._processes if not process.ready]
        wanted = len(self._processes) < self.count and not self._signals
        timeout = max(0.0, self._due - time.monotonic()) if wanted and self._due > time.monotonic() else None
        found, _, _ = select.select([self._wake[0], *(process.ready_pipe for process in unready)], [], [], timeout)
        if self._wake[0] in found:
            with contextlib.suppress(BlockingIOError):
                os.read(self._wake[0], 1024)
        for process in unready:
            if process.ready_pipe in found:
                self._became_ready(process)

    def _became_ready(self, process: _Process) -> None:
        said = os.read(process.ready_pipe, 1)
        if not said:
            return  # it has ended: the next `_reap` finds it
        process.ready = True
        os.close(process.ready_pipe)
        self._pause = 0.0
        if not self._announced and sum(each.ready for each in self._processes) == self.count:
            self._announced = True
            self.announce([each.pid for each in self._processes])

    def _reap(self) -> None:
        for process in list(self._processes):
            pid, status = os.waitpid(process.pid, os.WNOHANG)
            if pid:
                self._processes.remove(process)
                if not process.ready:
                    os.close(process.ready_pipe)
                self._ended(process, os.waitstatus_to_exitcode(status))

    def _ended(self, process: _Process, code: int) -> None:
        if self._signals:
            self._code = self._code or max(code, 0)
            return
        if not process.ready and not self._announced:  # it has logged why
            self._code = code if code > 0 else 1
            self._stop(signal.SIGTERM)
            return
        why = f"killed by signal {-code}" if code < 0 else f"exit code {code}"
        short = time.monotonic() - process.began < _LONG_LIFE
        self._pause = min(max(_FIRST_PAUSE, self._pause * 2), _LONGEST_PAUSE) if short else 0.0
        self._due = time.monotonic() + self._pause
        log.error("process %d ended (%s); another is started in its place", process.pid, why)


def _leave_signals() -> None:
    """Undoes the supervisor's signal handling in a forked process. Only the supervisor gets a terminal's Ctrl-C: it
    passes the signal on, and a process that got it twice would exit immediately."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for each in (signal.SIGTERM, signal.SIGCHLD):
        signal.signal(each, signal.SIG_DFL)
    os.setsid()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _HANDLED)
