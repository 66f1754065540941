"""The process that the processes of tests are forked from: it has imported all of Plait once, which would take each of
them a second of a processor. `processes.py` starts it and talks to it.

It never has a thread or an event loop, so that nothing is under way in it when it forks.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import runpy
import selectors
import signal
import socket
import sys
import threading
from dataclasses import dataclass
from typing import NoReturn

LONGEST = 200_000
"""Bytes of a request."""
FILES = 4
"""That come with one: standard input, output and error, and where the exit code goes."""
SLOW_TO_IMPORT = ("typer._adapters", "uvicorn.protocols.http.httptools_impl", "uvicorn.protocols.websockets.auto")


@dataclass(frozen=True)
class Job:
    module: str
    args: list[str]
    folder: str
    environment: dict[str, str]
    files: list[int]


@dataclass(frozen=True)
class Child:
    pid: int
    ended: int
    """Can be read when it has ended."""
    told: int
    """Where its exit code is written."""


class ForkServer:
    def __init__(self, requests: socket.socket) -> None:
        self._requests = requests
        self._children: dict[int, Child] = {}
        self._selector = selectors.DefaultSelector()
        self._selector.register(requests, selectors.EVENT_READ)

    def next_job(self) -> Job | None:
        """Returns in each process that is forked, with what it has to do, and in this one when nobody asks any more."""
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is not self._requests:
                    self._bury(key.data)
                elif (job := self._read()) is None:
                    self._end()
                    return None
                elif self._fork(job):
                    return job

    def _read(self) -> Job | None:
        text, files, _, _ = socket.recv_fds(self._requests, LONGEST, FILES)
        return Job(**json.loads(text), files=files) if text else None

    def _fork(self, job: Job) -> bool:
        """Whether this is the new process."""
        assert threading.active_count() == 1, "a module starts threads when it is imported"
        pid = os.fork()
        if not pid:
            self._forget()
            return True
        *others, told = job.files
        for file in others:
            os.close(file)
        child = Child(pid, os.pidfd_open(pid), told)
        self._children[pid] = child
        self._selector.register(child.ended, selectors.EVENT_READ, child)
        self._requests.sendall(str(pid).encode())
        return False

    def _bury(self, child: Child) -> None:
        _, status = os.waitpid(child.pid, 0)
        with contextlib.suppress(BrokenPipeError):  # nobody wants to know
            os.write(child.told, str(os.waitstatus_to_exitcode(status)).encode())
        self._selector.unregister(child.ended)
        os.close(child.ended)
        os.close(child.told)
        del self._children[child.pid]

    def _forget(self) -> None:
        """In a new process: what is the server's."""
        self._selector.close()
        self._requests.close()
        for child in self._children.values():
            os.close(child.ended)
            os.close(child.told)

    def _end(self) -> None:
        """The tests are over, or their process died: nothing outlives it."""
        for child in list(self._children.values()):
            os.kill(child.pid, signal.SIGKILL)
            self._bury(child)


def do(job: Job) -> None:
    """As `python -m module` does it."""
    _use(job.files)
    os.chdir(job.folder)
    os.environ.clear()
    os.environ.update(job.environment)
    sys.dont_write_bytecode = bool(job.environment.get("PYTHONDONTWRITEBYTECODE"))
    sys.path[:1] = [job.folder, *filter(None, job.environment.get("PYTHONPATH", "").split(os.pathsep))]
    sys.argv = [job.module, *job.args]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.modules.pop(job.module, None)
    runpy.run_module(job.module, run_name="__main__", alter_sys=True)


def _use(files: list[int]) -> None:
    """As standard streams."""
    *standard, told = files
    for number, file in enumerate(standard):
        os.dup2(file, number)
        os.close(file)
    os.close(told)
    sys.stdin = sys.__stdin__ = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = sys.__stdout__ = open(1, "w", buffering=1, closefd=False)  # noqa: SIM115
    sys.stderr = sys.__stderr__ = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115


def import_all() -> None:
    import plait

    found = pkgutil.walk_packages(plait.__path__, "plait.")
    for name in (*SLOW_TO_IMPORT, *(each.name for each in found if not each.name.endswith("__main__"))):
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # else its pages are copied by the first collection of each process


def main(file: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    import_all()
    if (job := ForkServer(socket.socket(fileno=file)).next_job()) is not None:
        end(_exit_code(job))


def _exit_code(job: Job) -> int:
    """An exit with a message, or by an exception, is left to Python itself."""
    try:
        do(job)
    except SystemExit as exit:
        if not isinstance(exit.code, int | None):
            raise
        return exit.code or 0
    return 0


def end(code: int) -> NoReturn:
    """As Python does it: threads and exit functions first, then what is garbage. Only what was there before the fork
    is not freed object by object: the memory is shared until it is written, so that would first copy all of it."""
    threading._shutdown()  # pyright: ignore[reportAttributeAccessIssue]
    atexit._run_exitfuncs()
    gc.collect()
    with contextlib.suppress(OSError):
        for stream in (sys.stdout, sys.stderr):
            if stream is not None and not stream.closed:
                stream.flush()
        os._exit(code & 0xFF)
    sys.exit(code)  # nobody reads what it wrote: Python says so


if __name__ == "__main__":
    main(int(sys.argv[1]))
