"""Python processes for tests, forked from one that has imported all of Plait.

    with start("plait.cli.main", "serve", "--db", url, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        process.kill()

They are real: they have a process id, are killed by signals, and share nothing with the test but its pipes. What
depends on how Python itself starts, or on what is imported when, needs `subprocess`.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import weakref
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from tests.support import fork_server

ROOT = Path(__file__).parents[2]


class Process:
    """As much of `subprocess.Popen` as tests use, with pipes of text."""

    def __init__(self, pid: int, exit_code: int, pipes: Mapping[int, IO[str]]) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self.stdin, self.stdout, self.stderr = (pipes.get(number) for number in range(3))
        self._exit_code = exit_code
        self._reading = threading.Lock()
        weakref.finalize(self, os.close, exit_code)

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None and not select.select([self._exit_code], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0)
        with self._reading:  # another thread may wait, too
            if self.returncode is None:
                code = os.read(self._exit_code, 10)
                assert code, "the process that it was forked from is gone"
                self.returncode = int(code)
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """All that it writes until it ends; it has nothing more to read."""
        if self.stdin is not None:
            self.stdin.close()
        with ThreadPoolExecutor(2) as readers:
            out, err = (
                readers.submit(pipe.read) if pipe and not pipe.closed else None for pipe in (self.stdout, self.stderr)
            )
            try:
                self.wait(timeout)
            except subprocess.TimeoutExpired:
                self.kill()
                raise
        self.__exit__(None, None, None)
        return out.result() if out else "", err.result() if err else ""

    def poll(self) -> int | None:
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for pipe in (self.stdin, self.stdout, self.stderr):
            if pipe is not None:
                pipe.close()
        self.wait()


def start(
    module: str,
    *args: str,
    cwd: Path = ROOT,
    env: Mapping[str, str] | None = None,
    stdin: Any = subprocess.DEVNULL,
    stdout: Any = None,
    stderr: Any = None,
) -> Process:
    """Runs `python -m module args`."""
    job = {"module": module, "args": args, "folder": str(cwd), "environment": dict(os.environ if env is None else env)}
    ends = [_End.of(given, number) for number, given in enumerate((stdin, stdout, stderr))]
    if stderr == subprocess.STDOUT:
        ends[2] = _End(ends[1].theirs)
    exit_code, told = os.pipe()
    pid = _server().fork(job, [*(end.theirs for end in ends), told])
    os.close(told)
    for end in ends:
        end.close()
    return Process(pid, exit_code, {number: end.ours for number, end in enumerate(ends) if end.ours is not None})


def run(
    module: str, *args: str, cwd: Path = ROOT, env: Mapping[str, str] | None = None, timeout: float | None = None
) -> subprocess.CompletedProcess[str]:
    """Waits for its end, and has all that it wrote."""
    process = start(module, *args, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = process.communicate(timeout)
    return subprocess.CompletedProcess([module, *args], process.wait(), out, err)


class _End:
    """A standard stream of a new process, and our side of it if it is a pipe."""

    def __init__(self, theirs: int, ours: IO[str] | None = None, *, owned: bool = False) -> None:
        self.theirs, self.ours, self._owned = theirs, ours, owned

    @classmethod
    def of(cls, given: Any, number: int) -> Self:
        if given == subprocess.PIPE:
            read, write = os.pipe()
            theirs, ours = (write, read) if number else (read, write)
            return cls(theirs, open(ours, "r" if number else "w"), owned=True)
        if given == subprocess.DEVNULL:
            return cls(os.open(os.devnull, os.O_RDWR), owned=True)
        if given is None or given == subprocess.STDOUT:
            return cls(number)
        return cls(given.fileno())

    def close(self) -> None:
        if self._owned:
            os.close(self.theirs)


class _ForkServer:
    def __init__(self) -> None:
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._asking = threading.Lock()
        with theirs:
            command = [sys.executable, "-m", "tests.support.fork_server", str(theirs.fileno())]
            self._process = subprocess.Popen(
                command, cwd=ROOT, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
            )

    def fork(self, job: dict[str, Any], files: list[int]) -> int:
        with self._asking:
            socket.send_fds(self._requests, [json.dumps(job).encode()], files)
            return int(self._requests.recv(fork_server.LONGEST))

    def close(self) -> None:
        self._requests.close()
        self._process.wait()


@cache
def _server() -> _ForkServer:
    """One for each test process, from the first time that it is needed."""
    server = _ForkServer()
    atexit.register(server.close)
    return server
