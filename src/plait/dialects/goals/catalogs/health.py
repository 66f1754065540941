"""`Health`: the health of steps, reported by each node in a stream of events, and checked on this node.

A step is healthy where its scripts compile, its function is registered and its `health_check` answers; unknown where
none of this applies. A flow has the health of the worst step of its plan, computed on demand rather than recorded.
Health is shown; it never delays work.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

import msgspec
from msgspec import Raw

from plait.dialects.goals.errors import GoalsError
from plait.dialects.goals.planning.plan import Plan
from plait.dialects.goals.planning.planner import plan
from plait.dialects.goals.steps.step import Step
from plait.kernel.clock import Clock
from plait.kernel.events import Recorded
from plait.kernel.ids import Millis
from plait.kernel.records import Records
from plait.kernel.streams import EVERY, Follower, Stream

from .catalog import Catalog
from .catalogs import Catalogs, Watcher, Watchers
from .checkups import Checker, Checkups
from .cluster import UNKNOWN, Cluster, StepHealth, StepHealthChanged, worst
from .refresher import Refresher

Alive = Callable[[], Awaitable[Collection[str]]]
"""Returns the nodes that are up."""

_KIND = "cluster"
_decoder = msgspec.json.Decoder(StepHealthChanged)


class HealthReport(msgspec.Struct, frozen=True):
    """The health of a namespace: of every step of its catalog, and as each live node reports it."""

    health: dict[str, StepHealth]
    nodes: dict[str, dict[str, StepHealth]]
    last_updated: Millis


@dataclass(frozen=True, slots=True)
class _Entry:
    """The state of one namespace in this process."""

    cluster: Cluster
    stream: Stream
    follower: Follower[StepHealthChanged]


class Health:
    """`open` starts the checks; without it, only the reports of other nodes are shown."""

    def __init__(
        self,
        catalogs: Catalogs,
        records: Records,
        clock: Clock,
        checker: Checker,
        *,
        node: str,
        alive: Alive | None = None,
    ) -> None:
        """`node` should be a name that survives restarts, so that a restart changes nothing."""
        self._catalogs = catalogs
        self._records = records
        self._clock = clock
        self._node = node
        self._ask_alive = alive
        self._alive: Collection[str] | None = None
        self._entries: dict[str, _Entry] = {}
        self._watchers = Watchers()
        self._checkups = Checkups(catalogs, checker, clock, self._note)
        self._refresher = Refresher(records, _KIND, self.refresh)

    def open(self) -> None:
        self._checkups.open()

    async def close(self) -> None:
        await self._checkups.close()

    def look(self, namespace: str, step_ids: Collection[str]) -> None:
        """Requests a check of these steps, whose requirements on this node may have changed."""
        self._checkups.look(namespace, step_ids)

    def now(self, namespace: str, step_id: str) -> StepHealth:
        """The health as last read; unknown also if there is no such step any more."""
        step = self._catalogs.get(namespace).steps.get(step_id)
        return self._health(namespace, step) if step is not None else UNKNOWN

    async def get(self, namespace: str, step_id: str) -> StepHealth:
        await self.refresh(namespace)
        return self._health(namespace, (await self._catalogs.refresh(namespace)).get(step_id))

    async def report(self, namespace: str) -> HealthReport:
        await self.refresh(namespace)
        catalog = await self._catalogs.refresh(namespace)
        cluster = self._entry(namespace).cluster
        return HealthReport(
            health={step_id: self._health(namespace, catalog.steps[step_id]) for step_id in sorted(catalog.steps)},
            nodes={
                node: {step_id: each for step_id, each in sorted(steps.items()) if step_id in catalog.steps}
                for node, steps in sorted(cluster.nodes.items())
                if self._alive is None or node in self._alive
            },
            last_updated=cluster.last_updated,
        )

    async def refresh(self, namespace: str) -> None:
        """Reads what the nodes have reported since."""
        self._tell(namespace, await self._entry(namespace).follower.refresh())
        if self._ask_alive is not None:
            self._alive = {*await self._ask_alive(), self._node}

    async def refresh_all(self) -> None:
        """Refreshes every namespace that nodes have reported on; one that can't be read is logged."""
        await self._refresher.refresh_all()

    def watch(self, callback: Watcher) -> Callable[[], None]:
        """Calls back after a node's report has arrived in memory; returns the function that stops this."""
        return self._watchers.add(callback)

    def sequence(self, namespace: str) -> int:
        """The number of the last known event."""
        return self._entry(namespace).follower.sequence

    async def events(self, namespace: str, after: int = 0, limit: int | None = None) -> list[Recorded]:
        """The reports of the nodes after event `after`."""
        return [entry.recorded for entry in await self._entry(namespace).stream.read(after, limit)]

    async def _note(self, namespace: str, found: Mapping[str, StepHealth]) -> None:
        """Records what has changed on this node."""
        entry = self._entry(namespace)
        while True:
            self._tell(namespace, await entry.follower.refresh())
            changes = entry.cluster.changes(self._node, found)
            if await entry.follower.append(changes):
                self._tell(namespace, changes)
                await self._keep(entry)
                return

    async def _keep(self, entry: _Entry) -> None:
        every = max(EVERY, sum(map(len, entry.cluster.nodes.values())))
        if entry.follower.since_snapshot >= every:
            if self._ask_alive is not None:
                entry.cluster.forget({*await self._ask_alive(), self._node})
            await entry.follower.keep(entry.cluster.snapshot, every)

    def _restore(self, namespace: str, cluster: Cluster, snapshot: Raw) -> None:
        self._watchers.tell(namespace, cluster.restore(snapshot))

    def _tell(self, namespace: str, events: Iterable[StepHealthChanged]) -> None:
        self._watchers.tell(namespace, {event.step_id for event in events})

    def _health(self, namespace: str, step: Step) -> StepHealth:
        if step.flow is None:
            return self._entry(namespace).cluster.of(step.id, self._alive)
        try:
            return worst(self._health(namespace, each) for each in _flow_steps(self._catalogs.get(namespace), step))
        except GoalsError as error:
            return StepHealth("unhealthy", error.message)

    def _entry(self, namespace: str) -> _Entry:
        found = self._entries.get(namespace)
        if found is None:
            cluster = Cluster()
            stream = Stream(self._records, _KIND, namespace, self._clock)
            follower = Follower(
                stream, _decoder, cluster.apply, restore=lambda raw: self._restore(namespace, cluster, raw)
            )
            found = self._entries[namespace] = _Entry(cluster, stream, follower)
        return found


def _flow_steps(catalog: Catalog, flow: Step) -> list[Step]:
    """The steps that do the work of a flow, at any depth."""
    given = [name for name, each in flow.inputs() if each.detail.collect != "none"]
    made = plan(catalog, [flow.id], given)
    found: dict[str, Step] = {}
    todo: list[Plan] = [made.children[flow.id]]
    while todo:
        child = todo.pop()
        found.update((step_id, step) for step_id, step in child.steps.items() if step.flow is None)
        todo += child.children.values()
    return list(found.values())
