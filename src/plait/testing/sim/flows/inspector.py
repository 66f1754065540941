"""What must be true of every goals run, whatever happened on the way."""

from __future__ import annotations

from typing import Any, cast

from plait.dialects.goals.running.machine import GoalsMachine
from plait.dialects.goals.running.state import compensated_item
from plait.kernel.run import Run
from plait.kernel.store import RunFilter, RunRow
from plait.testing.history import History
from plait.testing.sim.cluster import BrokenPromise, Cluster
from plait.testing.sim.comparison import Comparison

from .catalog import NEVER
from .scenario import FORK, FlowScenario
from .world import FlowWorld

GOALS = "goals"


class FlowInspector:
    def __init__(self, cluster: Cluster, world: FlowWorld, scenario: FlowScenario) -> None:
        self._world = world
        self._store = cluster.store
        self._logs = cluster.logs
        self._clock_is_set = bool(scenario.weather.clock)
        self._endings = {root.id: root.ending for root in scenario.roots}
        self._comparison = Comparison(cluster)
        self.at_rest = self._comparison.at_rest

    async def at_the_end(self, *, calm: bool) -> None:
        for row in await self._store.runs(RunFilter(limit=1000)):
            events = await self._logs.events(row.id)
            run = await self._comparison.ended(row)
            self._check_log(row, events)
            if row.dialect == GOALS:
                self._check_work(row, events)
                _check_outcome(row, run, events)
                self._check_letters(row, run)
        if calm:  # in a storm, an engine that was cut off may begin work that was compensated elsewhere
            self._check_keys()
        await self._comparison.check_leftovers()

    def _check_log(self, row: RunRow, events: History) -> None:
        if not events.ended or row.status == "running" or row.awake or row.blocked is not None:
            raise BrokenPromise(f"{row.id} has not ended properly: {row}\n{events}")
        try:
            events.assert_recorded_once()
            if not self._clock_is_set:
                events.assert_not_early()
        except AssertionError as error:
            raise BrokenPromise(f"{row.id}: {error}") from None

    def _check_work(self, row: RunRow, events: History) -> None:
        """Work with a result was done, in the recorded attempt; for a fork, perhaps by the run that it was forked
        from."""
        whose = (row.id, row.id.removesuffix(FORK))
        done = {(entry.step, entry.token) for entry in self._world.ledger if entry.run_id in whose and not entry.undo}
        plan: dict[str, Any] = events.events[0].data["data"]["plan"]["steps"]
        for data in events.of("work_succeeded"):
            by_others = plan[data["step_id"]]["type"] in ("python", "async", "sync")
            if by_others and (data["step_id"], data["token"]) not in done:
                raise BrokenPromise(f"{row.id}: `{data['step_id']}` has a result, but never ran\n{events}")

    def _check_letters(self, row: RunRow, run: Run) -> None:
        """A compensator that was broken when it failed permanently has done its work after a retry."""
        if self._endings.get(row.id.partition(":")[0]) != "ends and its dead letters are retried":
            return
        state = cast("GoalsMachine", run.machine).flow.state
        items = [*(item for step in state.steps.values() for item in step.items.values())]
        items += [former.item for former in state.former.values()]
        if any(item.status == "compensation_failed" for item in items):
            raise BrokenPromise(f"{row.id}: a compensator that was tried again is not done")

    def _check_keys(self) -> None:
        """Compensated work is never done again under the same key."""
        undone: set[tuple[str, str]] = set()
        for entry in self._world.ledger:
            place = (entry.run_id, compensated_item(entry.token))
            if entry.undo:
                undone.add(place)
            elif place in undone:
                raise BrokenPromise(f"{entry.run_id}: `{entry.step}` was done again under the key of what was undone")


def _check_outcome(row: RunRow, run: Run, events: History) -> None:
    flow = cast("GoalsMachine", run.machine).flow
    state = flow.state
    if flow.takes_results and not any(flow.owners[token] == NEVER for token in flow.awaited):
        raise BrokenPromise(f"{row.id} has ended, but still waits for work\n{events}")
    if row.status == "completed" and not all(step.ended for step in state.steps.values()):
        raise BrokenPromise(f"{row.id} completed, but not all its steps have ended\n{events}")
    causes = [data["cause"] for data in events.since("run.reopened").of("rollback.started")]
    compensates = row.status == "failed" or "cancel" in causes
    for step_id, step in state.steps.items():
        owed = compensates or (row.status == "completed" and step.status == "failed")
        if flow.compiled.steps[step_id].step.compensate and owed:
            left = [token for token, item in step.items.items() if item.status in ("succeeded", "compensating")]
            if left:
                raise BrokenPromise(f"{row.id}: {left} of `{step_id}` were not undone\n{events}")
