"""What must be true of every run, whatever happened on the way."""

from __future__ import annotations

from collections import defaultdict

from plait.kernel.events import Recorded
from plait.kernel.ids import DEFAULT_NAMESPACE, TaskToken
from plait.kernel.store import RunFilter, RunRow
from plait.testing.history import History

from .cluster import BrokenPromise, Cluster
from .comparison import ALL_SHARDS, NEVER, Comparison
from .scenario import LANE


class Inspector:
    def __init__(self, cluster: Cluster, *, clock_is_set: bool) -> None:
        self._cluster = cluster
        self._clock_is_set = clock_is_set
        self._store = cluster.store
        self._logs = cluster.logs
        self._comparison = Comparison(cluster)

    async def at_rest(self) -> None:
        """Called when nothing is in progress: memory and store agree, and a queue keeps its limit."""
        await self._check_queue(1)
        async for row in self._comparison.rows_at_rest():
            await self._check_awake(row)

    async def _check_awake(self, row: RunRow) -> None:
        """A run is awake if it has a task in flight: a new owner loads those, and leaves the others on disk."""
        events = await self._logs.events(row.id)
        if not events.of("run.started") or events.of("run.rewound") or events.types()[-1] == "run.forked":
            return
        timers = {t.token: t.due for t in await self._store.due(ALL_SHARDS, NEVER, 1000) if t.run_id == row.id}
        waits = [timers.get(TaskToken(f"~retry:{task}")) for task in _tasks_under_way(events)]
        if any(due is not None and due <= self._cluster.clock.now() for due in waits):
            return  # retried at this very moment: just before or just after
        if row.awake != (None in waits):
            raise BrokenPromise(f"{row.id}: awake is {row.awake}, but should be {not row.awake}\n{events}")

    async def _check_queue(self, limit: int) -> None:
        holders = await self._store.run_queues.holders(DEFAULT_NAMESPACE, LANE, 10)
        if len(holders) > limit:
            raise BrokenPromise(f"at most {limit} may have a slot, but these have: {holders}")

    async def at_the_end(self) -> None:
        await self._check_queue(0)
        world = self._cluster.world
        if world.complaints:
            raise BrokenPromise("; ".join(world.complaints))
        for row in await self._store.runs(RunFilter(limit=1000)):
            events = await self._logs.events(row.id)
            self._check_log(row, events)
            self._check_effects(row, events)
            await self._comparison.ended(row)
        await self._comparison.check_leftovers()

    def _check_log(self, row: RunRow, events: History) -> None:
        if not events.ended or row.status == "running" or row.awake or row.blocked is not None:
            raise BrokenPromise(f"{row.id} has not ended properly: {row}\n{events}")
        try:
            events.assert_recorded_once()
            events.assert_fits_its_code()
            if not self._clock_is_set:  # a timer that has fired stays fired when the clock is set back
                events.assert_not_early()
        except AssertionError as error:
            raise BrokenPromise(f"{row.id}: {error}") from None
        _check_messages(row.id, events)
        _check_rollback(row.id, events)

    def _check_effects(self, row: RunRow, events: History) -> None:
        """At least once, always under the same key."""
        entries = [entry for entry in self._cluster.world.ledger if entry.run_id == row.id]
        keys: dict[tuple[str, bool], set[str]] = defaultdict(set)
        for entry in entries:
            keys[entry.path, entry.undo].add(entry.key)
        generations = 1 + len(events.of("run.rewound"))
        several = {place: found for place, found in keys.items() if len(found) > generations}
        if several:
            raise BrokenPromise(f"{row.id}: the attempts of one step had several keys: {several}")
        steps = {data["at"] for data in events.of("op.opened") if data["kind"] == "step"}
        ran = {(entry.path, entry.attempt) for entry in entries}
        for data in events.since("run.forked").of("op.closed"):
            completed = data["at"] in steps and data.get("status", "completed") == "completed"
            if completed and (data["at"], data.get("attempts", 1)) not in ran:
                raise BrokenPromise(f"{row.id}: `{data['at']}` has a result, but that attempt never ran\n{events}")


def _check_messages(run_id: str, events: History) -> None:
    """Messages of one name are taken in the order of arrival."""
    names = {data["id"]: data["name"] for data in events.of("message.queued")}
    came: dict[str, list[str]] = defaultdict(list)
    taken: dict[str, list[str]] = defaultdict(list)
    for id, name in names.items():
        came[name].append(id)
    for data in events.since("run.rewound").of("op.closed"):
        for id in data.get("messages") or ():
            if data.get("status") != "cancelled":
                taken[names[id]].append(id)
            elif id in taken[names[id]]:  # otherwise it was taken before the place that the run was rewound to
                taken[names[id]].remove(id)
    for name, ids in taken.items():
        if ids != [id for id in came[name] if id in ids]:
            raise BrokenPromise(f"{run_id}: messages `{name}` came as {came[name]} and were taken as {ids}\n{events}")


def _check_rollback(run_id: str, events: History) -> None:
    """In reverse order of completion, each once. A child may report only during the rollback that it has something to
    compensate: it is then the newest, and next; the compensation in progress may finish before it."""
    done, undone, following = _Done(events), list[str](), list[str]()
    for event in events:
        done.take(event)
        if event.type == "rollback.step" and event.data["status"] == "completed":
            place = event.data["at"].removeprefix("~undo/")
            if place not in following:
                raise BrokenPromise(f"{run_id}: `{place}` was undone, but {following} was next\n{events}")
            undone.append(place)
        newest = [place for place in reversed(done.places) if place not in undone][:1]
        if event.type in ("rollback.started", "rollback.step") and event.data.get("status") != "asked":
            following = newest
        elif event.type == "child.compensable":
            following += newest
    left = [place for place in done.places if place not in undone]
    if left and (events.of("rollback.started") or "run.failed" in events.types()):
        raise BrokenPromise(f"{run_id} ended without undoing {left}\n{events}")


def _tasks_under_way(events: History) -> set[str]:
    """Steps without a result; during a rollback, the one compensator that is next."""
    if events.of("rollback.started"):
        steps = [data for data in events.of("rollback.step") if data["status"] != "asked"]
        undone = {data["at"].removeprefix("~undo/") for data in steps}
        left = [at for at in _Done.in_all(events).places if at not in undone]
        return {f"~undo/{at}" for at in left[-1:] if not at.startswith("~child:")}
    steps = {data["at"] for data in events.of("op.opened") if data["kind"] == "step"}
    under_way: set[str] = set()
    for event in events:
        match event.type:
            case "op.opened":
                under_way.add(event.data["at"])
            case "op.closed":
                under_way.discard(event.data["at"])
            case "run.recovered":
                under_way.update(event.data["reset"])
                under_way.difference_update(event.data.get("spare", ()))
            case _:
                pass
    return under_way & steps


class _Done:
    """Completed steps with a rollback handler, and children with something to compensate, in order of completion."""

    def __init__(self, events: History) -> None:
        self._undoable = {data["at"] for data in events.of("op.opened") if data.get("undo")}
        self.places: list[str] = []

    @classmethod
    def in_all(cls, events: History) -> _Done:
        found = cls(events)
        for event in events:
            found.take(event)
        return found

    def take(self, event: Recorded) -> None:
        data = event.data
        match event.type:
            case "op.closed" if data.get("status", "completed") == "completed" and data["at"] in self._undoable:
                self.places.append(data["at"])
            case "child.compensable":  # it reports again if there is more to compensate than it knew
                child = f"~child:{data['run_id']}"
                self.places = [*(place for place in self.places if place != child), child]
            case _:
                pass
