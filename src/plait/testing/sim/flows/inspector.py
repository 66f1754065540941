"""What must be true of every run towards goals, whatever happened on the way."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, cast

from plait.dialects.goals.running.machine import GoalsMachine
from plait.dialects.goals.running.state import compensated_item
from plait.kernel import values
from plait.kernel.errors import Unavailable
from plait.kernel.ids import SHARDS, Epoch, Millis, Shard
from plait.kernel.loader import Loader, recorded
from plait.kernel.run import Run
from plait.kernel.store import RunFilter, RunRow, Store
from plait.registry.engine import Engine
from plait.testing.history import History
from plait.testing.sim.cluster import BrokenPromise, Cluster
from plait.testing.sim.invariants import WholeLog

from .catalog import NEVER
from .scenario import FORK, FlowScenario
from .world import FlowWorld

_SHARDS = [Shard(number) for number in range(SHARDS)]
_NEVER = Millis(2**53)
GOALS = "goals"


class FlowInspector:
    def __init__(self, cluster: Cluster, world: FlowWorld, scenario: FlowScenario) -> None:
        self._cluster = cluster
        self._world = world
        self._store = cluster.store
        self._clock_is_set = bool(scenario.weather.clock)
        self._endings = {root.id: root.ending for root in scenario.roots}
        engine = Engine(store=cluster.store, definitions=cluster.definitions, clock=cluster.clock)
        world.furnish(engine)
        self._loader = engine.kernel.loader
        dialects = {name: self._loader.bundle(name) for name in engine.bundles}
        whole = cast("Store", WholeLog(cluster.store))
        self._from_start = Loader(whole, dialects, engine.kernel.ids, engine.kernel.limits)

    async def at_rest(self) -> None:
        """At a moment in which nothing moves: what is in memory is what is on disk, and a live run can say why."""
        for engine in self._cluster.alive:
            if not engine.kernel.loop.idle:
                continue  # it waits for its store to come back
            for row in await self._store.runs(RunFilter(status="running", limit=1000)):
                if engine.kernel.owns(row.id):
                    with suppress(Unavailable):  # a parked run is read from the store
                        live = await engine.kernel.peek(row)
                        if not live.queued:  # else what it has decided waits for a child to be found
                            await self._compare(row, live)

    async def at_the_end(self, *, calm: bool) -> None:
        for row in await self._store.runs(RunFilter(limit=1000)):
            events = History(await recorded(self._store, row.id))
            run = await self._loader.load(row, Epoch(0))
            self._check_log(row, events)
            if row.dialect == GOALS:
                self._check_work(row, events)
                _check_outcome(row, run, events)
                self._check_letters(row, run)
            await self._compare(row, run)
        if calm:  # in a storm, an engine that was cut off may begin what is undone elsewhere by then
            self._check_keys()
        await self._check_leftovers()

    async def _compare(self, row: RunRow, live: Run) -> None:
        folded = await self._loader.load(row, Epoch(0))
        if not live.state.started:
            return
        if live.state.seq < folded.state.seq and len(self._cluster.places) > 1:
            return  # another engine owns it now, and this one does not know yet
        whole = await self._from_start.load(row, Epoch(0))
        for other, what in ((folded, "the snapshot and the log after it"), (whole, "the whole log")):
            if _state(live) != _state(other):
                raise BrokenPromise(f"{row.id} in memory is not what {what} says:\n{_state(live)}\n{_state(other)}")

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
        """What has a result was done, in the attempt that is recorded; of a fork perhaps by the run that it has its
        past from."""
        whose = (row.id, row.id.removesuffix(FORK))
        done = {(entry.step, entry.token) for entry in self._world.ledger if entry.run_id in whose and not entry.undo}
        plan: dict[str, Any] = events.events[0].data["data"]["plan"]["steps"]
        for data in events.of("work_succeeded"):
            by_others = plan[data["step_id"]]["type"] in ("python", "async", "sync")
            if by_others and (data["step_id"], data["token"]) not in done:
                raise BrokenPromise(f"{row.id}: `{data['step_id']}` has a result, but never ran\n{events}")

    def _check_letters(self, row: RunRow, run: Run) -> None:
        """A compensator that was broken when it failed for good has done its work after it was tried again."""
        if self._endings.get(row.id.partition(":")[0]) != "ends and its dead letters are retried":
            return
        state = cast("GoalsMachine", run.machine).flow.state
        items = [*(item for step in state.steps.values() for item in step.items.values())]
        items += [former.item for former in state.former.values()]
        if any(item.status == "compensation_failed" for item in items):
            raise BrokenPromise(f"{row.id}: a compensator that was tried again is not done")

    def _check_keys(self) -> None:
        """Work that was undone is never done again under the same key."""
        undone: set[tuple[str, str]] = set()
        for entry in self._world.ledger:
            place = (entry.run_id, compensated_item(entry.token))
            if entry.undo:
                undone.add(place)
            elif place in undone:
                raise BrokenPromise(f"{entry.run_id}: `{entry.step}` was done again under the key of what was undone")

    async def _check_leftovers(self) -> None:
        left = {
            "timers": await self._store.due(_SHARDS, _NEVER, 100),
            "inputs nobody took": await self._store.inbox(_SHARDS, 100),
        }
        found = {name: rows for name, rows in left.items() if rows}
        if found:
            raise BrokenPromise(f"all runs have ended, but there are still {found}")


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


def _state(run: Run) -> tuple[str, str]:
    kernel = values.plain([run.state.seq, run.state.status, run.state.final, run.state.rollback])
    return kernel.decode(), bytes(run.machine.snapshot()).decode()
