"""An engine in a process of its own, which a test may kill.

    with serving(url, ledger) as engine:
        engine.hears("ready")       # waits for a line of its output
        engine.kill()               # kill -9

It ends with its test for sure: by the context, and, should the test's process die, because its standard input closes.
"""

import asyncio
import logging
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from plait import Engine
from tests.faults.work import DEFINITIONS, FREEZE_AFTER, LEDGER
from tests.support.processes import Process, start

PATIENCE = 40.0


class Serving:
    def __init__(self, process: Process) -> None:
        self._process = process
        self._lines: queue.Queue[str | None] = queue.Queue()
        self.said: list[str] = []
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def hears(self, text: str) -> str:
        """The next line of its output that has this in it."""
        while True:
            line = self._lines.get(timeout=PATIENCE)
            if line is None:
                raise AssertionError(f"the engine ended before it said {text!r}:\n{''.join(self.said)}")
            if text in line:
                return line

    def begins(self, steps: int) -> None:
        """Waits until it has begun that many more steps."""
        for _ in range(steps):
            self.hears("step ")

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def terminate(self) -> int:
        """The polite way; gives the exit code."""
        self._process.send_signal(signal.SIGTERM)
        return self.ended()

    def ended(self) -> int:
        return self._process.wait(PATIENCE)

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with suppress(ValueError):  # it was closed while this thread read: the process is gone
            for line in self._process.stdout:
                self.said.append(line)
                self._lines.put(line)
        self._lines.put(None)


@contextmanager
def serving(
    url: str, ledger: Path, lease: float = 10.0, *, ready: bool = True, freeze_after: int = 0
) -> Iterator[Serving]:
    """Starts an engine, and waits until it is ready, unless it may not live to be. It may freeze after some steps."""
    environment = {**os.environ, LEDGER: str(ledger), FREEZE_AFTER: str(freeze_after)}
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with start("tests.faults.serving", url, str(lease), env=environment, **pipes) as process:
        try:
            engine = Serving(process)
            if ready:
                engine.hears("ready")
            yield engine
        finally:
            process.kill()


async def serve(url: str, lease: float) -> None:
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    async with Engine(url, definitions=DEFINITIONS, lease_ttl=lease):
        print("ready", flush=True)
        await stopped.wait()
    print("closed", flush=True)


def end_with_the_test() -> None:
    sys.stdin.read()
    os._exit(1)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s", stream=sys.stdout)
    threading.Thread(target=end_with_the_test, daemon=True).start()
    asyncio.run(serve(sys.argv[1], float(sys.argv[2])))
