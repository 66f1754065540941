"""Workers in processes of their own, which are killed and started again, or frozen."""

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from signal import Signals
from typing import Any

from tests.support.processes import ROOT, Process, start

from .work import LEDGER

Started = Process | subprocess.Popen[Any]
_QUIET: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


class WorkerProcess:
    def __init__(self, begin: Callable[[], Started]) -> None:
        self._begin = begin
        self._process = begin()

    @property
    def pid(self) -> int:
        return self._process.pid

    def replace(self) -> None:
        self.kill()
        self._process = self._begin()

    def kill(self) -> None:
        with self._process:
            self._process.kill()

    def signal(self, number: Signals) -> None:
        self._process.send_signal(number)


def python_worker(module: str, source: str, ledger: Path, *options: str) -> Callable[[], Started]:
    """`plait worker`, for a database or a server."""
    command = ("plait.cli.main", "worker", module, "--db", source, "--log-level", "error", *options)
    return lambda: start(*command, env={**os.environ, LEDGER: str(ledger)}, **_QUIET)


def node_worker(url: str, queue: str, ledger: Path, handlers: Path, lease: float) -> Callable[[], Started]:
    """The worker in JavaScript of the examples."""
    own = {"PLAIT_URL": url, "PLAIT_HANDLERS": str(handlers), "PLAIT_LEASE_MS": str(round(lease * 1000))}
    environment = {**os.environ, LEDGER: str(ledger), **own}
    command = ["node", "examples/worker.js", queue]
    return lambda: subprocess.Popen(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, **_QUIET)


@contextmanager
def workers(*begin: Callable[[], Started]) -> Iterator[list[WorkerProcess]]:
    with ExitStack() as stack:
        found: list[WorkerProcess] = []
        for each in begin:
            found.append(WorkerProcess(each))
            stack.callback(found[-1].kill)
        yield found
