"""A real `plait serve` in a process of its own: started, killed, started again, stopped."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import json
import os
import signal
import socket
import sys
import time
from pathlib import Path
from typing import IO

from bench.api.flows import LEDGER
from bench.api.orders import REPOSITORY

START_SECONDS = 30.0
STOP_SECONDS = 30.0
PLAIT = Path(sys.executable).with_name("plait")
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG


class ServerError(Exception):
    """It did not start, or did not stop."""


def ends_with_us() -> None:
    """Runs in a child before its program: should we be killed, it is too. Linux only; elsewhere it does nothing."""
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """The same database, ledger and port each time it is started."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.ledger = folder / "ledger"
        self._db = f"sqlite:///{folder / 'plait.db'}"  # synchronous=FULL is the default
        self._log_path = folder / "server.log"
        self._log: IO[bytes] = self._log_path.open("ab")
        self._process: asyncio.subprocess.Process | None = None

    @property
    def pid(self) -> int:
        return 0 if self._process is None else self._process.pid

    def cpu(self) -> float:
        """Seconds of processor time that it has used; 0 where that can't be told."""
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return 0.0

    async def key(self) -> str:
        """A key for the load, made as a person would make it."""
        command = (PLAIT, "keys", "create", "load", "--role", "operator", "--db", self._db, "--json")
        process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, stderr=self._log)
        said, _ = await process.communicate()
        if process.returncode:
            raise ServerError(self.last_words())
        return json.loads(said)["key"]

    async def start(self) -> float:
        """Seconds until it was ready."""
        began = time.perf_counter()
        self._process = process = await asyncio.create_subprocess_exec(
            *(PLAIT, "serve", "bench.api.flows", "--db", self._db, "--port", str(self.port)),
            cwd=REPOSITORY,
            env={**os.environ, LEDGER: str(self.ledger)},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            start_new_session=True,
            preexec_fn=ends_with_us,
        )
        while not await self._is_ready():
            if process.returncode is not None or time.perf_counter() - began > START_SECONDS:
                raise ServerError(f"the server did not start: {self.last_words()}")
            await asyncio.sleep(0.02)
        return time.perf_counter() - began

    async def _is_ready(self) -> bool:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        except OSError:
            return False
        try:
            writer.write(b"GET /ready HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n")
            return b" 200 " in await reader.readline()
        except OSError:
            return False
        finally:
            writer.close()

    async def kill(self) -> None:
        """kill -9."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            await self._process.wait()

    async def stop(self) -> float:
        """SIGTERM; seconds until it was gone."""
        assert self._process is not None
        began = time.perf_counter()
        self._process.terminate()
        try:
            code = await asyncio.wait_for(self._process.wait(), STOP_SECONDS)
        except TimeoutError:
            raise ServerError(f"the server did not stop within {STOP_SECONDS:.0f} s") from None
        if code:
            raise ServerError(f"the server ended with {code}: {self.last_words()}")
        return time.perf_counter() - began

    def last_words(self) -> str:
        lines = [line for line in self._log_path.read_text(errors="replace").splitlines() if line.strip()]
        return " / ".join(lines[-3:]) if lines else "it said nothing"

    async def close(self) -> None:
        await self.kill()
        self._log.close()
