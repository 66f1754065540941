"""The request of a `plait run`, and its outcome."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from plait.errors import PlaitError, RunBlocked, RunFailed
from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import DEFAULT_NAMESPACE
from plait.kernel.run_queues import Queueing
from plait.kernel.store import RunRow

from . import progress
from .contract import Run
from .options import DEFAULT_DB, Where

End = Literal["completed", "failed", "cancelled", "blocked"]


@dataclass(slots=True)
class RunRequest:
    """The request. Mutable only because the id of the run is often known only when it starts."""

    target: str
    inputs: Sequence[str]
    """The inputs as written on the command line."""
    given: Any
    """The parsed input."""
    id: str | None
    where: Where
    deadline: float | None
    labels: dict[str, str]
    subject: str | None
    queueing: Queueing
    json: bool

    def again(self) -> str:
        """The command that continues the run."""
        words = ["plait", "run", self.target, "--id", self.id or ""]
        for each in self.inputs:
            words += ["--input", each]
        if self.where.namespace not in (None, DEFAULT_NAMESPACE):
            words += ["--namespace", self.where.namespace]
        if self.where.url != DEFAULT_DB:
            words += ["--db", self.where.url]
        return shlex.join(words)


@dataclass(frozen=True, slots=True)
class Outcome:
    run: RunRow
    status: End
    output: Any = None
    error: PlaitError | None = None
    info: ErrorInfo | None = None


async def watched(request: RunRequest, run: Run, label: str, pause: float = progress.REFRESH) -> Outcome:
    """Shows the run until it has ended."""
    ending = asyncio.ensure_future(_outcome(run))
    screen = progress.Silent() if request.json else progress.screen(run.id, label)
    try:
        await progress.watch(run, ending, screen, pause)
    finally:
        ending.cancel()
    return await ending


async def _outcome(run: Run) -> Outcome:
    try:
        output = await run.result()
        return Outcome(await run.row(), "completed", output)
    except RunFailed as error:
        status: End = "cancelled" if error.run_status == "cancelled" else "failed"
        return Outcome(await run.row(), status, error=error, info=error.error)
    except RunBlocked as error:
        return Outcome(await run.row(), "blocked", error=error, info=error.error)
