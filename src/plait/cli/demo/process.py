"""Starting and killing the demo's engine."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from plait.demo.workflows import LEDGER
from plait.kernel.errors import Unavailable


class EngineProcess:
    def __init__(self, db: str, folder: Path) -> None:
        self._db = db
        self._log = folder / "engine.log"
        self.ledger = folder / "ledger"
        self._process: asyncio.subprocess.Process | None = None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    async def start(self) -> None:
        with self._log.open("a") as log:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "plait.cli.demo.engine", self._db),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                env=os.environ | {LEDGER: str(self.ledger)},
            )
        assert self._process.stdout is not None
        if await self._process.stdout.readline() != b"ready\n":
            why = self._log.read_text().strip().rpartition("\n")[2]
            raise Unavailable("cli.demo", "the demo's engine did not start", why=why, fix=f"see {self._log}")

    async def kill(self) -> None:
        """Sends SIGKILL, which leaves it no chance to clean up."""
        if self._process is not None:
            self._process.kill()
            await self._process.wait()
            self._process = None

    async def stop(self) -> None:
        """Asks it to stop, and waits for its end."""
        if self._process is None:
            return
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            await asyncio.wait_for(self._process.wait(), 5)
        except TimeoutError:
            await self.kill()
        self._process = None

    def repeated(self) -> tuple[int, list[str]]:
        """Returns how many attempts the steps recorded, and which steps were started more than once."""
        lines = self.ledger.read_text().splitlines() if self.ledger.exists() else []
        return len(lines), [line.split()[1] for line in dict.fromkeys(lines) if lines.count(line) > 1]
