"""A worker as an operating-system process: inherits nothing from the engine, and can be killed at any time."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys

from .program import Program

_START = "import sys; sys.path[len(sys.path):] = sys.argv[1:]; from child.main import main; main()"
_PATIENCE = 1.0
"""Seconds for a process that closed its pipe to end by itself."""


class Process:
    """A child in a session of its own, with no environment, no files but the pipe, and an isolated interpreter.

    It must be started from a thread that lives as long as the pool: the child asks the kernel to be killed when that
    thread ends, and so never outlives the engine.
    """

    def __init__(self, program: Program) -> None:
        paths = program.paths()
        self.pipe, theirs = socket.socketpair()
        with theirs:
            try:
                self._popen = subprocess.Popen(
                    [sys.executable, "-I", "-S", "-c", _START, *paths],
                    stdin=theirs.fileno(),
                    stdout=theirs.fileno(),
                    stderr=subprocess.DEVNULL,
                    cwd="/",
                    env={},
                    start_new_session=True,
                )
            except BaseException:
                self.pipe.close()
                raise
        self.pid = self._popen.pid

    def alive(self) -> bool:
        return self._popen.poll() is None

    def kill(self) -> None:
        self._popen.kill()

    def discard(self) -> None:
        """Ends a process that was never used. One that was just started ends quickly."""
        self.pipe.close()
        self._popen.kill()
        self._popen.wait()

    def wait(self) -> int:
        """Reaps the process; returns the exit code, or the negative number of the signal that ended it."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._popen.wait(_PATIENCE)
        self._popen.kill()
        return self._popen.wait()
