"""The world outside the engine: the effects of steps, with the luck of the scenario, and a ledger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from plait.dialects.code.errors import CriticalError
from plait.dialects.refs.bundle import RefsBundle
from plait.dialects.refs.running.compensation_tokens import compensated
from plait.dialects.refs.running.plans import Plans
from plait.dialects.refs.running.state import split_id, work_id
from plait.kernel.ids import RunId
from plait.kernel.task import current_attempt
from plait.registry.engine import Engine
from plait.testing.sim.cluster import Cluster
from plait.testing.sim.stale_results import report_stale
from plait.testing.sim.storm import Storm

from .drawing import BROKEN, GATE, UNDO, WORK, Luck
from .javascript import instant_javascript
from .scenario import FORK, PATIENCE, RefsScenario


class BadLuck(Exception):
    """The next attempt may have more luck."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One attempt of a step or an iteration, or of its compensator."""

    run_id: str
    id: str
    """The id of the step or the iteration."""
    attempt: int
    key: str
    undo: bool


_plans = Plans()
"""Shared by all engines of this process: compiled plans never change."""


class RefsWorld:
    def __init__(self, cluster: Cluster, scenario: RefsScenario) -> None:
        self._cluster = cluster
        self._lucks = {root.id: root.lucks for root in scenario.roots}
        self.ledger: list[Entry] = []
        self.complaints: list[str] = []
        self.repaired: set[str] = set()
        """Runs whose broken step succeeds now."""

    def furnish(self, engine: Engine) -> None:
        """Gives an engine the functions of this world before it opens."""
        cast("RefsBundle", engine.bundle("refs")).plans = _plans
        engine.executors.functions.add(WORK, self._work)
        engine.executors.functions.add(UNDO, self._undo)
        engine.executors.languages.use("javascript", instant_javascript())

    def report_stale(self, storm: Storm) -> None:
        """A worker that was presumed dead reports an attempt that is long over."""
        attempts = [
            (entry.run_id, entry.id, entry.attempt)
            for entry in self.ledger
            if not entry.undo and entry.run_id not in self.repaired
        ]
        report_stale(self._cluster, storm, attempts, {"done": "by a zombie"})

    async def _work(self, **given: Any) -> dict[str, Any]:
        entry = self._note()
        await self._witness(entry)
        name, index = split_id(entry.id)
        luck = self._luck(entry.run_id, name)
        takes = 3 * PATIENCE if name == GATE else luck.takes
        if takes:
            await self._cluster.clock.sleep(takes)
        if name == BROKEN:
            if entry.run_id not in self.repaired:
                raise CriticalError("it is broken")
        elif index is not None and index == luck.unlucky:
            raise CriticalError("no luck")
        elif entry.attempt <= luck.fails:
            raise BadLuck("not yet")
        return {"done": entry.id, "given": given}

    async def _undo(self, **given: Any) -> None:
        entry = self._note()
        if entry.attempt <= self._luck(entry.run_id, split_id(entry.id)[0]).undo_fails:
            raise BadLuck("not undone yet")

    def _luck(self, run_id: str, step: str) -> Luck:
        return self._lucks.get(run_id.removesuffix(FORK), {}).get(step, Luck())

    def _note(self) -> Entry:
        attempt = current_attempt.get()
        if attempt is None:
            raise RuntimeError("a step runs outside a task")
        task, undone = attempt.task, compensated(attempt.task.token)
        id = task.token if undone is None else work_id(*undone)
        entry = Entry(attempt.run_id, id, attempt.number, task.key, undo=undone is not None)
        self.ledger.append(entry)
        return entry

    async def _witness(self, entry: Entry) -> None:
        """Effects follow the commit: a step may begin only once that is on disk."""
        started = f'"step":"{split_id(entry.id)[0]}"'.encode()
        if not await self._cluster.logs.has(RunId(entry.run_id), started):
            self.complaints.append(f"{entry.run_id}: `{entry.id}` began before it was on disk")
