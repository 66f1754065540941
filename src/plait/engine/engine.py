"""`Engine`: opens a store, executes the runs it owns, and provides handles on runs. It knows bundles, and no
dialect."""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncIterator, Iterable, Mapping
from datetime import timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack

import msgspec

from plait.agents.auth_profiles import Given
from plait.agents.model import Model
from plait.api.erasure import Receipt
from plait.api.picture import RunDiff
from plait.clusters.names import ClusterName
from plait.definitions.definitions import Definitions
from plait.egress import EgressSettings
from plait.kernel import values
from plait.kernel.bundle import Bundle, Reference, Resolved, Startable, is_bundle
from plait.kernel.clock import Clock, SystemClock
from plait.kernel.definitions import Plan
from plait.kernel.errors import NotFound
from plait.kernel.ids import DEFAULT_NAMESPACE, Ids, RunId, run_key
from plait.kernel.inputs import Message
from plait.kernel.kernel import Kernel, Settings, millis
from plait.kernel.limits import Limits
from plait.kernel.observer import Observer, Observers
from plait.kernel.queue_options import place_of
from plait.kernel.records import Records
from plait.kernel.run_queues import Queueing
from plait.kernel.store import SUBJECT, RunFilter, RunRow, Store, own_subject
from plait.kernel.watchdog import Watchdog
from plait.stores.archive.archive import configured_archive
from plait.workers.common import CommonExecutors
from plait.workers.local import LocalWorker
from plait.workers.notice import NoticeExecutor
from plait.workers.notice_settings import NoticeSettings, settings_from

from .agent_transport import AgentTransport, agent_queues
from .agents import Agents, AgentSettings
from .approvals import Approvals
from .ask import ask
from .bundles import Bundles, LazyBundle
from .chosen_ids import ChosenIds
from .dead_letters import DeadLetters
from .declare import declare
from .diff import difference
from .drafts import Drafts
from .drains import Drains
from .encryption import Encryption, door_of, subject_text
from .fleet_worker import FleetWorker
from .handle import Handle
from .live_lists import Boards, RunChanges
from .named_definitions import NamedDefinitions
from .pii import PiiFields
from .queued_starts import Beginning
from .queues import Queues
from .retention import Retention
from .run_list import listed
from .schedule_starts import ScheduleStarts
from .schedules import Schedules
from .services import Services
from .span import span
from .start_rates import StartRates
from .startable import asked, flat, not_startable
from .upkeep import Upkeep
from .urls import store_of

if TYPE_CHECKING:
    from plait.agents.promotion.tool_list import ToolList
    from plait.agents.services import AgentPolicy
    from plait.codec.key_ring import KeyRing

    from .redis_path import RedisPath

_NAMES = (str, Reference)
"""Types of definitions requested by name."""


class Engine:
    """Runs workflows on a database. One object does everything a program needs:

        async with Engine("sqlite:///plait.db", definitions=[order]) as engine:
            handle = await engine.start(order, {"sku": "tea"}, id="order-1")
            print(await handle.result())

    `definitions` are workflows, steps for the catalog of the namespace `default`, modules that have them, and bundles
    of further dialects. `work=False` opens it without taking up any run: to start runs for other engines, and to look.
    `egress` says which addresses steps may call. `encryption` holds the master keys, if the environment does not.
    `redis` is where workers may get tasks of queues, too. `mcp_servers` have the tools that steps may call, as in
    `.mcp.json`. `notices` says who is told of approvals, and `archive` is the place for runs that `retention` removes,
    if the environment does not. `models` are the language models that agents may use, by name, `prices` what they cost
    in USD per million tokens; `auth_profiles` are headers that agents use by name and never see. Without
    `keep_prompts`, of prompts only hashes are recorded. `agent_transport` says who carries agents that name no queue:
    `process`, or workers by a `queue`, a `stream` or a `list`. `clusters` says where Dask, Ray or Kubernetes is, for
    steps with `on`, if the environment does not.
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
        encryption: KeyRing | None = None,
        redis: str | None = None,
        mcp_servers: Mapping[str, Any] | None = None,
        notices: NoticeSettings | None = None,
        archive: str | None = None,
        models: Mapping[str, Model] | None = None,
        prices: Mapping[str, Any] | None = None,
        auth_profiles: Mapping[str, Given] | None = None,
        delegates: Mapping[str, Any] | None = None,
        keep_prompts: bool = True,
        agent_transport: AgentTransport = "process",
        clusters: Mapping[ClusterName, str] | None = None,
    ) -> None:
        clock, ids, limits = clock or SystemClock(), ids or Ids(), limits or Limits()
        notices = notices or settings_from()
        agent_places = agent_queues(agent_transport, redis)
        self._redis = _redis_path(redis, lists=agent_transport == "list") if redis is not None and work else None
        self.observers = Observers(observers if self._redis is None else [*observers, self._redis.observer])
        self.executors = CommonExecutors(egress or EgressSettings(), mcp_servers, clusters)
        worker = LocalWorker(
            clock,
            max_payload=limits.max_payload,
            around=self.observers.around,
            executors=self.executors.all,
            clusters=self.executors.clusters,
        )
        agents = AgentSettings(models, prices, auth_profiles, delegates, keep_prompts=keep_prompts, egress=egress)
        agents.models.elsewhere = bool(agent_places)
        self.executors.pipelines.auth_profiles = agents.auth_profiles
        self._bundles = Bundles(worker.add, working=work)
        self._working = work
        owner = f"{socket.gethostname()}-{os.getpid()}-{ids.key()[:8]}"
        store = store or store_of(url, clock)
        door = door_of(store, encryption, clock)
        self.kernel = Kernel(
            door or store,
            self._bundles,
            worker,
            self.resolve,
            clock=clock,
            ids=ids,
            limits=limits,
            settings=Settings(
                owner=owner,
                lease_ttl=millis(lease_ttl),
                cache_size=code_cache,
                own_shards=work,
                queues=agent_places,
            ),
            observers=self.observers,
            notify=notices.notices,
        )
        self.encryption = Encryption(self.kernel, door)
        self.records = Records(self.kernel.store, self.kernel)
        self.retention = Retention(self.kernel, self.records, store, self._bundles.names, configured_archive(archive))
        self.pii_fields = PiiFields(self.records, clock)
        watches = work and isinstance(clock, SystemClock)
        services = Services(
            records=self.records,
            clock=clock,
            limits=limits,
            subscriptions=self.kernel.subscriptions,
            observers=self.observers,
            executors=self.executors,
            models=agents.models,
            alive=self._hosts,
            watches=watches,
            tell=self.tell,
        )
        declared = list(definitions)
        for dialect in [*self.make_bundles(services), *filter(is_bundle, flat(declared))]:
            self._bundles.add(dialect)
        self._bundles.load_imported()
        self.approvals = Approvals(self.kernel)
        self.notices = NoticeExecutor(notices, self.executors.send_out, self.approvals.open_one)
        worker.add(self.notices)
        self.dlq = DeadLetters(self.kernel)
        self.queues = Queues(self.kernel, self.executors, worker.executors.keys(), lambda: self.agents.attempts)
        fleet_worker = FleetWorker(self.kernel, self.queues, self._bundles, self.executors.clusters)
        self._upkeep = Upkeep(Watchdog(worker.name_of), self.retention, fleet_worker) if watches else None
        self.definitions = Definitions(self._bundles, self.records, clock)
        self.agents = Agents(agents, self.kernel, self.executors, self.definitions, self.records, self.agent_policy)
        worker.add(self.agents.executor)
        declare((each for each in declared if not is_bundle(each)), self.agents, self._bundles)
        if self._redis is not None:
            self._redis.attach(self.kernel, self.queues, self.records, self.agents, plain=not self.encryption.on)
        self.drafts = Drafts(self.kernel, self.definitions)
        self._names = NamedDefinitions(self.kernel.loader, self.definitions)
        starts = ScheduleStarts(self.kernel.store, self.start, self.plan, self.bundle)
        self.schedules = Schedules(self.kernel, self.records, starts)
        self._boards = Boards(self.kernel)
        self._rates = StartRates(clock)
        self._chosen_ids = ChosenIds(self.kernel.store)
        self.drains = Drains(self.kernel.store, self.records, clock)

    def make_bundles(self, services: Services) -> Iterable[Bundle | LazyBundle]:
        """The dialects of this engine; the registry lists them."""
        return ()

    async def agent_policy(self, namespace: str) -> AgentPolicy:
        """What the operators of a namespace allow its agents."""
        from plait.agents.services import OpenPolicy  # loaded with the first agent

        return OpenPolicy()

    # -- life ----------------------------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        try:
            await self.kernel.open(self.encryption.open)
            await self._bundles.open()
            if self._redis is not None:
                await self._redis.start()
        except BaseException:
            await self.kernel.crash()
            await self.kernel.store.close()
            await self._close_parts()
            raise
        if self._working:
            self.schedules.scheduler.start()
        if self._upkeep is not None:
            await self._upkeep.start()
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        if self._upkeep is not None:
            await self._upkeep.stop()
        self.schedules.scheduler.stop()
        if self._redis is not None:
            await self._redis.stop()
        await self._bundles.drain()
        await self.kernel.close()
        await self._close_parts()

    async def _close_parts(self) -> None:
        await self._bundles.close()
        await self.agents.close()
        await self.executors.close()

    # -- dialects ------------------------------------------------------------------------------------------------

    @property
    def bundles(self) -> Mapping[str, Bundle]:
        """All dialects of this engine by name; this loads them."""
        self._bundles.load_all()
        return self._bundles

    @property
    def loaded_bundles(self) -> list[Bundle]:
        """The dialects loaded so far."""
        return list(self._bundles.values())

    @property
    def tools(self) -> ToolList:
        """Tools that agents' pipelines were promoted to, in the namespace `default`; `.of(...)` gives another's."""
        from plait.agents.promotion.tool_list import ToolList

        return ToolList(self.agents.promotions)

    @property
    def default_dialect(self) -> str:
        """The dialect of a definition that is only a name."""
        return next(iter(self._bundles))

    def bundle(self, dialect: str) -> Bundle:
        return self.kernel.loader.bundle(dialect)

    async def tell(self, run_id: RunId, name: str, body: object) -> None:
        """Sends a message to a run and waits until it is taken, so that later reports can't overtake it."""
        key = self.kernel.ids.key()
        message = Message(key, name, values.encode(body), self.kernel.clock.now())
        await ask(self.kernel, run_id, message, key)

    # -- runs ----------------------------------------------------------------------------------------------------

    async def start(
        self,
        definition: str | Startable | Reference,
        input: Any = None,
        *,
        id: str | None = None,
        namespace: str = DEFAULT_NAMESPACE,
        deadline: float | timedelta | None = None,
        labels: dict[str, str] | None = None,
        subject: str | None = None,
        pii_fields: Iterable[str] = (),
        by: str = "",
        **queueing: Unpack[Queueing],
    ) -> Handle[Any]:
        """Starts a run; it is durable when this returns. Starting the same id with the same definition and input again
        returns the same run. A definition may be a name: `name`, `name@version` or `name@tag`, of loaded code or of a
        definition saved in the namespace. `subject` names the person whose data it holds: values are encrypted with a
        key that `erase` destroys, and it is stored as the label `subject`. Fields named in `pii_fields`, at any depth,
        are shown only to API callers with the right `pii:read`. `by` names who starts it. On a `queue` it waits for a
        slot: see `Queueing`."""
        kernel = self.kernel
        kernel.must_live()
        if labels := labels or {}:
            labels = {values.text("a label", k): values.text(f"label {k!r}", v) for k, v in labels.items()}
        by = values.text("`by`", by, max_length=400) if by else ""
        if subject is not None:
            labels[SUBJECT] = subject_text(subject)
        if SUBJECT in labels:
            await self.encryption.check(namespace, labels[SUBJECT])
        named = isinstance(definition, _NAMES)
        dialect, resolved = await (self._resolved_name if named else self._resolved)(definition, input, namespace)
        if personal := (*resolved.pii_fields, *pii_fields):
            await self.pii_fields.register(namespace, personal)
        limit = None if deadline is None else span(deadline)
        row = kernel.new_row(namespace, id, dialect, resolved.definition, resolved.version, labels, limit)
        row.start_hash = resolved.hash(dialect)
        place = place_of(namespace, queueing, row.deadline) if queueing else None
        if personal:
            row.labels.setdefault(SUBJECT, own_subject(row.id))
        run_id, created = row.id, False
        drained = await self.drains.refusal(resolved.definition, resolved.version) if resolved.version else None
        refusable = bool(drained or resolved.rate or queueing)
        looks = id is not None and (refusable or self._chosen_ids.look_first)
        if not looks or not await self._chosen_ids.has(row, resolved.taken):
            if drained is not None:
                raise drained
            self._rates.take(namespace, resolved.rate)
            start = resolved.start(dialect, kernel.ids.seed(), row.deadline, row.labels)
            if by or named:
                start = msgspec.structs.replace(start, by=by, reference=asked(definition, resolved))
            begin = Beginning(kernel, row, self._chosen_ids, resolved.taken)
            if queueing:
                run_id, created = await begin.with_queueing(start, place, queueing)
            else:
                created = await begin.at_once(start)
        if id is not None:
            self._chosen_ids.note(created=created)
        return Handle(kernel, run_id, namespace, getattr(definition, "returns", Any), created)

    async def get(self, run_id: str, namespace: str = DEFAULT_NAMESPACE) -> Handle[Any]:
        """A handle on an existing run, running or ended."""
        self.kernel.must_live()
        key = run_key(namespace, run_id)
        row = await self.kernel.store.run(key)
        if row is None:
            raise NotFound("kernel.no_run", f"there is no run {run_id}", fix="`plait runs` lists them")
        bundle = self._bundles.get(row.dialect)
        returns = Any if bundle is None else bundle.returns(row.definition, row.version)
        return Handle(self.kernel, key, namespace, returns)

    async def runs(self, query: RunFilter | None = None) -> list[RunRow]:
        """Runs, newest first."""
        self.kernel.must_live()
        return await listed(self.kernel, query or RunFilter())

    async def namespaces(self) -> list[str]:
        """Namespaces that have runs, judged by recent ones."""
        self.kernel.must_live()
        return await self.kernel.store.namespaces()

    def follow_runs(self, query: RunFilter | None = None) -> AsyncIterator[RunChanges]:
        """The first page of a list of runs, followed by its changes, until the caller stops."""
        self.kernel.must_live()
        return self._boards.follow(query or RunFilter())

    async def diff(self, a: Handle[Any], b: Handle[Any]) -> RunDiff:
        """The differences between two runs: their input, output, and node by node."""
        return difference(await a.picture(), await b.picture())

    async def erase(
        self, subject: str, namespace: str = DEFAULT_NAMESPACE, *, by: str = "", cancel: bool = False
    ) -> Receipt:
        """Makes every value of a subject's runs unreadable, for good; durable when this returns. If runs have not ended
        it is refused, or with `cancel` they are cancelled first. Erasing again returns the same receipt."""
        self.kernel.must_live()
        return await self.encryption.erase(subject, namespace, by=by, cancel=cancel)

    async def plan(self, definition: object, input: Any = None, namespace: str = DEFAULT_NAMESPACE) -> Plan:
        """What a run would do, as far as can be told; raises for what could never start."""
        self.kernel.must_live()
        if isinstance(definition, _NAMES):
            bundle, name, dialect = self._named(definition)
            return await self._names.plan(bundle, name, input, namespace, dialect)
        return await self._bundle_of(definition).plan(definition, input, namespace)

    # -- resolving -----------------------------------------------------------------------------------------------

    async def resolve(self, dialect: str, definition: Any, input: object, namespace: str) -> Resolved:
        """Resolves a definition given in JSON, for children of any run."""
        bundle = self.bundle(dialect or self.default_dialect)
        if isinstance(definition, str):
            found = await self._names.resolve(bundle, definition, input, namespace, dialect)
        else:
            found = await bundle.resolve(bundle.read(definition), input, namespace)
            dialect = dialect or bundle.name
        await self.pii_fields.register(namespace, found.pii_fields)
        return found if found.dialect or dialect else msgspec.structs.replace(found, dialect=bundle.name)

    async def _resolved_name(self, definition: Any, input: object, namespace: str) -> tuple[str, Resolved]:
        """The dialect, and the resolved definition, of a name."""
        bundle, name, dialect = self._named(definition)
        found = await self._names.resolve(bundle, name, input, namespace, dialect)
        return found.dialect or bundle.name, found

    async def _resolved(self, definition: object, input: object, namespace: str) -> tuple[str, Resolved]:
        """The dialect, and the resolved definition, of a Python object."""
        bundle = self._bundle_of(definition)
        return bundle.name, await bundle.resolve(definition, input, namespace)

    def _named(self, definition: str | Reference) -> tuple[Bundle, str, str]:
        """The dialect that may have it loaded, its name, and the dialect requested by the caller."""
        if isinstance(definition, str):
            return self._bundles[self.default_dialect], definition, ""
        dialect = definition.dialect
        return self._bundles.get(dialect) or self.bundle(dialect), definition.definition, dialect

    def _bundle_of(self, definition: object) -> Bundle:
        for bundle in self._bundles.values():
            if bundle.accepts(definition):
                return bundle
        for bundle in self._bundles.load_imported():
            if bundle.accepts(definition):
                return bundle
        raise not_startable(definition)

    async def _hosts(self) -> set[str]:
        """Hosts with live engines."""
        return {owner.name.rsplit("-", 2)[0] for owner in await self.kernel.store.owners()}


def _redis_path(url: str, *, lists: bool) -> RedisPath:
    from .redis_path import RedisPath  # imported on demand: most engines do without

    return RedisPath(url, lists=lists)
