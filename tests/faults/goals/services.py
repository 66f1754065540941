"""What a test has of the step service: it starts and kills it, says how steps behave, and opens gates.

with serving_steps(folder) as service:
    catalog_step("price").required("order", int).output("price", int).sync(service.work("500 answer", gives="price"))
    service.open("late")                # acts that wait at this gate go on
    service.kill()                      # kill -9
    service.start()                     # same port, same ledger
"""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Callable, Iterator, Sized
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlencode

from tests.support.ports import free_port
from tests.support.processes import Process, start

from .ledger import Ledger
from .service import LISTENS

PATIENCE = 40.0
Found = TypeVar("Found", bound=Sized)


class StepService:
    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.database = f"sqlite:///{folder / 'plait.db'}"
        """For an engine that has none of its own."""
        self.ledger = Ledger(folder / "ledger")
        self.ledger.path.touch()
        self._gates = folder / "gates"
        self._gates.mkdir()
        self._process: Process | None = None

    def start(self) -> None:
        """Returns when it listens."""
        args = str(self.port), str(self.ledger.path), str(self._gates)
        self._process = start("tests.faults.goals.service", *args, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        assert self._process.stdout.readline().strip() == LISTENS

    def kill(self) -> None:
        if self._process is not None:
            with self._process as process:  # closes its pipes
                process.kill()
            self._process = None

    # -- how steps behave ------------------------------------------------------------------------------------------

    def work(self, acts: str = "answer", *, gives: str = "") -> str:
        """An endpoint; `{name}` in the acts is an input of the step."""
        return f"{self._url}/work?{urlencode({'acts': acts, 'gives': gives}, safe='{}')}"

    def undo(self, acts: str = "answer") -> str:
        """The endpoint of a compensator."""
        return f"{self._url}/undo?{urlencode({'acts': acts})}"

    def open(self, gate: str) -> None:
        (self._gates / gate).touch()

    @property
    def _url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    # -- what it was asked -----------------------------------------------------------------------------------------

    async def has(self, count: int, find: Callable[[Ledger], Found]) -> Found:
        """What is found, once it is that much: `await service.has(2, lambda ledger: ledger.calls("price"))`."""
        async with asyncio.timeout(PATIENCE):
            while len(found := find(self.ledger)) < count:  # noqa: ASYNC110 -- another process writes it
                await asyncio.sleep(0.005)
        return found


@contextmanager
def serving_steps(folder: Path) -> Iterator[StepService]:
    service = StepService(folder)
    try:
        service.start()
        yield service
    finally:
        service.kill()
