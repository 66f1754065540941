"""One subject process: started, listened to, and killed.

It leads a process group of its own, so that a kill takes the servers it started with it, as a power cut would.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from bench.subjects.script import Order
from bench.works import Measures

REPOSITORY = Path(__file__).parent.parent


class SubjectError(Exception):
    """A subject did not finish its work; the message is the last thing it said."""


@dataclass(frozen=True)
class Report:
    version: str
    measures: Measures
    seconds: float
    """From the start of the process to this report."""


class SubjectProcess:
    def __init__(self, process: asyncio.subprocess.Process, log: IO[bytes], began: float) -> None:
        self._process = process
        self._log = log
        self._began = began

    @staticmethod
    async def start(python: str, module: str, order: Order, log: IO[bytes]) -> SubjectProcess:
        began = time.perf_counter()
        process = await asyncio.create_subprocess_exec(
            python,
            *("-m", f"bench.subjects.{module}"),
            *("--work", order.work, "--phase", order.phase),
            *("--target", order.target, "--sizes", order.sizes.to_json()),
            cwd=REPOSITORY,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
            start_new_session=True,
        )
        return SubjectProcess(process, log, began)

    async def report(self, timeout: float) -> Report:
        """The subject's one line; after it the process is either gone or holding its runs."""
        assert self._process.stdout is not None
        try:
            line = await asyncio.wait_for(self._process.stdout.readline(), timeout)
        except TimeoutError as error:
            raise SubjectError(f"no result within {timeout:.0f} s") from error
        seconds = time.perf_counter() - self._began
        if not line:
            raise SubjectError(self._last_words())
        said = json.loads(line)
        return Report(said["version"], said["measures"], seconds)

    async def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await self._process.wait()

    def _last_words(self) -> str:
        self._log.flush()
        lines = [line for line in Path(self._log.name).read_text(errors="replace").splitlines() if line.strip()]
        return lines[-1].strip() if lines else "the process ended without a word"
