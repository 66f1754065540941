"""`Engine`: opens a store, runs what it owns, and gives handles on runs."""

from __future__ import annotations

import hashlib
import os
import socket
from collections.abc import AsyncIterator, Coroutine, Iterable
from datetime import timedelta
from types import TracebackType
from typing import Any, TypeVar, overload

from plait.dialects.code.definition import Workflow, seconds
from plait.dialects.code.dialect import CodeDialect
from plait.dialects.goals.definition import Goals
from plait.egress import EgressSettings
from plait.kernel import values
from plait.kernel.clock import Clock, SystemClock
from plait.kernel.definitions import Plan
from plait.kernel.errors import Conflict, InvalidInput, NotFound
from plait.kernel.ids import DEFAULT_NAMESPACE, Ids, Millis, RunId, run_key, shard_of
from plait.kernel.kernel import Kernel, Settings, millis
from plait.kernel.limits import Limits
from plait.kernel.machine import Dialect, Prepared, start_input
from plait.kernel.observer import Observer, Observers
from plait.kernel.records import Records
from plait.kernel.store import RunFilter, RunRow, Store
from plait.kernel.watchdog import Watchdog
from plait.workers.local import LocalWorker

from .approvals import Approvals
from .catalog import StepCatalog
from .dead_letters import DeadLetters
from .definitions import Definitions
from .diff import RunDiff, changes, node_changes
from .goals import GoalsParts, is_step
from .handle import Handle
from .live_lists import Boards, RunChanges
from .urls import store_of

T = TypeVar("T")

_LONGEST_DEADLINE = 100 * 366 * 86_400.0


class Engine:
    """Runs workflows on a database. One object does everything a program needs:

        async with Engine("sqlite:///plait.db", definitions=[order]) as engine:
            handle = await engine.start(order, {"sku": "tea"}, id="order-1")
            print(await handle.result())

    `definitions` are workflows, and steps for the catalog of the namespace `default`. `work=False` opens it without
    taking up any run: to start runs for other engines, and to look. `egress` says which addresses steps may call.
    """

    def __init__(
        self,
        url: str = "sqlite:///plait.db",
        *,
        definitions: Iterable[object] = (),
        code_cache: int = 1000,
        limits: Limits | None = None,
        lease_ttl: float = 10.0,
        work: bool = True,
        store: Store | None = None,
        clock: Clock | None = None,
        ids: Ids | None = None,
        observers: Iterable[Observer] = (),
        egress: EgressSettings | None = None,
    ) -> None:
        clock = clock or SystemClock()
        ids = ids or Ids()
        limits = limits or Limits()
        definitions = list(definitions)
        self._dialects: dict[str, Dialect] = {}
        self._code = CodeDialect((each for each in definitions if not is_step(each)), self.prepare, limits.max_payload)
        store = store or store_of(url, clock)
        self.records = Records(store, lambda write: self.kernel.append(write))
        self.goals = GoalsParts(self.records, clock, self._prepare_json, definitions, egress, self._hosts)
        self._dialects |= {self._code.name: self._code, self.goals.dialect.name: self.goals.dialect}
        owner = f"{socket.gethostname()}-{os.getpid()}-{ids.key()[:8]}"
        self.observers = Observers(observers)
        worker = LocalWorker(
            clock,
            max_payload=limits.max_payload,
            around=self.observers.around,
            executors=self.goals.executors,
        )
        self.kernel = Kernel(
            store,
            self._dialects,
            worker,
            clock=clock,
            ids=ids,
            limits=limits,
            settings=Settings(owner=owner, lease_ttl=millis(lease_ttl), cache_size=code_cache, own_shards=work),
            observers=self.observers,
        )
        self._work, self._looks = work, work and isinstance(clock, SystemClock)
        self._watchdog = Watchdog(worker.name_of) if self._looks else None
        self.approvals = Approvals(self.kernel)
        self.dlq = DeadLetters(self.kernel)
        self.definitions = Definitions(self._dialects.values(), self.records, clock)
        self._boards = Boards(self.kernel)

    async def __aenter__(self) -> Engine:
        try:
            await self.kernel.open()
            await self.goals.open(self.kernel.feed, declare=self._work, look=self._looks)
        except BaseException:
            await self.kernel.crash()
            await self.kernel.store.close()
            await self.goals.close()
            raise
        if self._watchdog is not None:
            self._watchdog.start()
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        if self._watchdog is not None:
            self._watchdog.stop()
        await self.goals.leave()
        await self.kernel.close()
        await self.goals.close()

    @property
    def catalog(self) -> StepCatalog:
        """The steps that goals are planned with, of the namespace `default`; `.of(...)` gives another's."""
        return self.goals.catalog

    @property
    def code(self) -> CodeDialect:
        """The `code` dialect with the workflows it has loaded."""
        return self._code

    # -- runs ----------------------------------------------------------------------------------------------------

    @overload
    async def start(
        self,
        definition: Workflow[..., Coroutine[Any, Any, T]],
        input: Any = None,
        *,
        id: str | None = None,
        namespace: str = DEFAULT_NAMESPACE,
        deadline: float | timedelta | None = None,
        labels: dict[str, str] | None = None,
    ) -> Handle[T]: ...
    @overload
    async def start(
        self,
        definition: str | Goals,
        input: Any = None,
        *,
        id: str | None = None,
        namespace: str = DEFAULT_NAMESPACE,
        deadline: float | timedelta | None = None,
        labels: dict[str, str] | None = None,
    ) -> Handle[Any]: ...
    async def start(
        self,
        definition: Any,
        input: Any = None,
        *,
        id: str | None = None,
        namespace: str = DEFAULT_NAMESPACE,
        deadline: float | timedelta | None = None,
        labels: dict[str, str] | None = None,
    ) -> Handle[Any]:
        """Starts a run; it is durable when this returns. Starting the same id with the same definition and
        input again gives the same run."""
        self.kernel.must_live()
        labels = {values.text("a label", k): values.text(f"label {k!r}", v) for k, v in (labels or {}).items()}
        await self._dialect_of(definition).refresh(namespace)
        dialect, prepared = self.prepare(definition, input, namespace)
        due = None if deadline is None else Millis(self.kernel.clock.now() + _span(deadline))
        row = self.new_row(namespace, id, dialect, prepared.definition, prepared.version, labels, due)
        row.start_hash = _start_hash(dialect, prepared)
        handle = Handle[Any](self, row.id, namespace, getattr(definition, "returns", Any))
        if id is not None and await self._exists(row, prepared.taken):
            return handle
        start = start_input(prepared, dialect, self.kernel.ids.seed(), due, row.labels)
        while not (created := await self.kernel.create(row, start) == "ok") and not await self._exists(
            row, prepared.taken
        ):
            pass  # whoever was first has failed to start it
        handle.created = created
        return handle

    async def get(self, run_id: str, namespace: str = DEFAULT_NAMESPACE) -> Handle[Any]:
        """A handle on a run that exists, running or ended."""
        self.kernel.must_live()
        key = run_key(namespace, run_id)
        row = await self.kernel.store.run(key)
        if row is None:
            raise NotFound("kernel.no_run", f"there is no run {run_id}", fix="`plait runs` lists them")
        found = self._code.registry.find(row.definition, row.version) if row.dialect == "code" else None
        return Handle(self, key, namespace, found.returns if found is not None else Any)

    async def runs(self, query: RunFilter | None = None) -> list[RunRow]:
        """Runs, newest first."""
        self.kernel.must_live()
        return await self.kernel.store.runs(query or RunFilter())

    async def namespaces(self) -> list[str]:
        """Those that have runs, as far as the newest ones tell."""
        self.kernel.must_live()
        return await self.kernel.store.namespaces()

    @property
    def dialects(self) -> list[str]:
        return list(self._dialects)

    def follow_runs(self, query: RunFilter | None = None) -> AsyncIterator[RunChanges]:
        """The first page of a list of runs, then what changes in it, for as long as one asks."""
        self.kernel.must_live()
        return self._boards.follow(query or RunFilter())

    async def diff(self, a: Handle[Any], b: Handle[Any]) -> RunDiff:
        """What differs between two runs: their input, output, and node by node."""
        left, right = await a.picture(), await b.picture()
        return RunDiff(
            left.row,
            right.row,
            changes(left.input, right.input),
            changes(left.output, right.output),
            node_changes(left.view, right.view),
        )

    async def plan(self, definition: object, input: Any = None, namespace: str = DEFAULT_NAMESPACE) -> Plan:
        """What a run would do, as far as can be told; refuses what no `start` could make good."""
        self.kernel.must_live()
        dialect = self._dialect_of(definition)
        await dialect.refresh(namespace)
        return dialect.plan(definition, input, namespace)

    async def _exists(self, row: RunRow, code: str) -> bool:
        known = await self.kernel.store.run(row.id)
        if known is None:
            return False
        if known.start_hash != row.start_hash:
            raise Conflict(
                code,
                f"run {row.id} exists with another definition or input",
                fix="use a new id, or the same definition and input",
            )
        return True

    # -- what handles and dialects need --------------------------------------------------------------------------

    def read(self, dialect: str, definition: str | dict[str, Any]) -> object:
        """A definition that came as JSON."""
        return self.kernel.loader.dialect(dialect).read(definition)

    def prepare(self, definition: object, input: object, namespace: str) -> tuple[str, Prepared]:
        """Finds the dialect of a definition and makes it ready to start."""
        dialect = self._dialect_of(definition)
        return dialect.name, dialect.prepare(definition, input, namespace)

    async def _hosts(self) -> set[str]:
        """Those that engines are alive on."""
        return {owner.name.rsplit("-", 2)[0] for owner in await self.kernel.store.owners()}

    def _prepare_json(self, dialect: str, definition: Any, input: object, namespace: str) -> Prepared:
        """For children that are named in JSON."""
        found = self.kernel.loader.dialect(dialect)
        return found.prepare(found.read(definition), input, namespace)

    def _dialect_of(self, definition: object) -> Dialect:
        for dialect in self._dialects.values():
            if dialect.accepts(definition):
                return dialect
        raise InvalidInput(
            "CODE_NOT_LOADED",
            f"{definition!r} is not something that can be started",
            fix="mark the function with @workflow, or ask for goals(...)",
        )

    def new_row(
        self,
        namespace: str,
        id: str | None,
        dialect: str,
        definition: str,
        version: str | None,
        labels: dict[str, str],
        deadline: Millis | None = None,
    ) -> RunRow:
        """The record of a run to be made."""
        now = self.kernel.clock.now()
        run_id: RunId = run_key(namespace, id if id is not None else self.kernel.ids.run_id(now), new=True)
        return RunRow(
            id=run_id,
            namespace=namespace,
            dialect=dialect,
            definition=definition,
            version=version,
            shard=shard_of(run_id),
            labels=labels,
            created_at=now,
            deadline=deadline,
        )


def _span(deadline: float | timedelta) -> Millis:
    try:
        wait = seconds(deadline)
    except (TypeError, ValueError):
        wait = 0.0
    if not 0 < wait <= _LONGEST_DEADLINE:
        raise InvalidInput(
            "kernel.bad_deadline", f"deadline={deadline!r}", fix="use seconds or a timedelta, of at most 100 years"
        )
    return millis(wait)


def _start_hash(dialect: str, prepared: Prepared) -> str:
    names = f"{dialect}\0{prepared.definition}\0{prepared.version}\0".encode()
    return hashlib.blake2b(names + bytes(prepared.input) + prepared.identity, digest_size=16).hexdigest()
