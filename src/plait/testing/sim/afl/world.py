"""The world outside the engine: executes events with the luck of the scenario, and keeps a ledger."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any, cast

from plait.dialects.afl.bundle import AflBundle
from plait.dialects.afl.definition import Afl
from plait.dialects.afl.executors import EventContext
from plait.dialects.afl.handlers import Registration, child
from plait.dialects.afl.preparation import prepare
from plait.dialects.afl.running.compensation_tokens import compensated
from plait.dialects.afl.running.programs import Programs
from plait.dialects.code.errors import CriticalError
from plait.kernel.errors import Unavailable
from plait.kernel.ids import RunId, TaskToken
from plait.kernel.retry import Retry
from plait.kernel.task import current_attempt
from plait.kernel.values import plain
from plait.registry.engine import Engine
from plait.testing.sim.cluster import Cluster
from plait.testing.sim.stale_results import report_stale
from plait.testing.sim.storm import Storm
from plait.testing.sim.whisper import whisper

from .drawing import BROKEN, DEED, GATE, SMALL, SMALL_SOURCE, TRIES, UNDO, WHISPERED, WORK, Luck
from .python import instant_python
from .scenario import FORK, PATIENCE, AflScenario

_RETRY = Retry(max_attempts=TRIES, first=1.0)
_SMALL = Afl({"source": SMALL_SOURCE})
_UNLUCKY = "y"
"""The item that fails permanently."""


class BadLuck(Exception):
    """The next attempt may have more luck."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One attempt of an event, or of its compensator."""

    run_id: str
    event: str
    attempt: int
    key: str
    undo: bool = False


_programs = Programs()
"""Shared by all engines of this process: compiled programs never change."""


class AflWorld:
    def __init__(self, cluster: Cluster, scenario: AflScenario) -> None:
        self._cluster = cluster
        self._lucks = {root.id: root.lucks for root in scenario.roots}
        self.ledger: list[Entry] = []
        self.complaints: list[str] = []
        self.repaired: set[str] = set()
        """Runs whose broken step succeeds now."""
        prepare(_SMALL.definition)  # here, not in a thread at its start

    def definitions(self) -> tuple[object, ...]:
        return (
            whisper,
            Registration(WORK, self._work, retry=_RETRY),
            Registration(DEED, self._work, retry=_RETRY, compensate=UNDO),
            Registration(UNDO, self._undo, retry=_RETRY),
            Registration(WHISPERED, child(whisper)),
            Registration(SMALL, child(_SMALL)),
        )

    def furnish(self, engine: Engine) -> None:
        """Shares compiled programs and a sandbox with an engine before it opens, so that it need not make its own."""
        cast("AflBundle", engine.bundle("afl")).programs = _programs
        engine.executors.languages.python = instant_python()

    def report_stale(self, storm: Storm) -> None:
        """A worker that was presumed dead reports an attempt that is long over."""
        attempts = [
            (entry.run_id, entry.event, entry.attempt)
            for entry in self.ledger
            if not entry.undo and entry.run_id not in self.repaired
        ]
        report_stale(self._cluster, storm, attempts, {"done": "by a zombie"})

    def luck(self, run_id: str, payload: dict[str, Any]) -> Luck:
        """A child run has the luck of its parent."""
        root = run_id.partition(":")[0].removesuffix(FORK)
        return self._lucks.get(root, {}).get(payload["name"], Luck())

    async def carry_out(self, run_id: str, payload: dict[str, Any], attempt: int) -> dict[str, Any]:
        """The outcome of an attempt, whoever makes it."""
        luck, name = self.luck(run_id, payload), payload["name"]
        takes = 3 * PATIENCE if name == GATE else luck.takes
        if takes:
            await self._cluster.clock.sleep(takes)
        if name == BROKEN:
            if run_id not in self.repaired:
                raise CriticalError("it is broken")
        elif luck.unlucky and payload["item"] == _UNLUCKY:
            raise CriticalError("no luck")
        elif attempt <= luck.fails:
            raise BadLuck("not yet")
        return answer(payload)

    async def note(self, entry: Entry) -> None:
        """Effects follow the commit: an event may be executed only once it is on disk."""
        self.ledger.append(entry)
        if entry.undo:
            return
        created = f'"event_id":"{entry.event}"'.encode()
        if not await self._cluster.logs.has(RunId(entry.run_id), created):
            self.complaints.append(f"{entry.run_id}: `{entry.event}` was carried out before it was on disk")

    async def _work(self, payload: dict[str, Any], ctx: EventContext) -> dict[str, Any]:
        entry = _entry()
        await self.note(entry)
        says = self.luck(entry.run_id, payload).says
        if says:
            await self._say(ctx, _note(payload))
        result = await self.carry_out(entry.run_id, payload, ctx.attempt)
        return {"done": result["done"]} if says else result

    async def _say(self, ctx: EventContext, note: str) -> None:
        while True:
            try:
                return await ctx.update(note=note)
            except Unavailable:
                await self._cluster.clock.sleep(1.0)

    async def _undo(self, payload: dict[str, Any], ctx: EventContext) -> None:
        entry = _entry()
        await self.note(entry)
        if ctx.attempt <= self.luck(entry.run_id, payload).undo_fails:
            raise BadLuck("not undone yet")


def answer(payload: dict[str, Any]) -> dict[str, Any]:
    """The result of an event: its name and a digest of its input."""
    digest = zlib.crc32(plain([payload["given"], payload.get("item")]))
    return {"done": f"{payload['name']}:{digest:08x}", "note": _note(payload)}


def _note(payload: dict[str, Any]) -> str:
    return f"about {payload['name']}"


def _entry() -> Entry:
    attempt = current_attempt.get()
    if attempt is None:
        raise RuntimeError("an event is carried out outside a task")
    task, undone = attempt.task, compensated(TaskToken(attempt.task.token))
    return Entry(attempt.run_id, undone or task.token, attempt.number, task.key, undo=undone is not None)
