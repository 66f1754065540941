"""The engine with all dialects, and a named attribute for each dialect's interface."""

from __future__ import annotations

from collections.abc import Coroutine, Iterable
from datetime import timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack, cast, overload

from plait import engine
from plait.dialects.code.bundle import CodeBundle
from plait.dialects.code.definition import Workflow
from plait.engine.bundles import LazyBundle
from plait.engine.handle import Handle
from plait.engine.services import Services
from plait.kernel.bundle import Bundle, Reference, Startable
from plait.kernel.ids import DEFAULT_NAMESPACE
from plait.kernel.run_queues import Queueing
from plait.kernel.task_inputs import AgentBudget

from .own_tools import own_tools

if TYPE_CHECKING:
    from plait.agents.services import AgentPolicy
    from plait.dialects.afl.bundle import AflBundle
    from plait.dialects.afl.interface import AflInterface
    from plait.dialects.goals.bundle import GoalsBundle
    from plait.dialects.goals.catalogs.step_catalog import StepCatalog
    from plait.dialects.graph.bundle import GraphBundle
    from plait.dialects.graph.definition.namespace_policy import NamespacePolicies
    from plait.dialects.graph.definition.type_registry import TypeRegistry
    from plait.dialects.refs.recordings import Recordings

T = TypeVar("T")


def bundles(services: Services) -> Iterable[Bundle | LazyBundle]:
    """Returns the bundles of all dialects. The first is the default dialect of a definition that is only a name."""
    yield CodeBundle(max_payload=services.limits.max_payload, functions=services.executors.functions)
    yield LazyBundle("goals", "plait.dialects.goals", lambda: _goals(services))
    yield LazyBundle("graph", "plait.dialects.graph", lambda: _graph(services))
    yield LazyBundle("refs", "plait.dialects.refs", lambda: _refs(services))
    yield LazyBundle("afl", "plait.dialects.afl", lambda: _afl(services))


def _goals(services: Services) -> Bundle:
    from plait.dialects.goals.bundle import GoalsBundle

    executors = services.executors
    return GoalsBundle(
        records=services.records,
        clock=services.clock,
        subscriptions=services.subscriptions,
        alive=services.alive,
        watches=services.watches,
        functions=executors.functions,
        languages=executors.languages,
        probe=executors.probe,
        executors=executors.all,
        models=services.models,
    )


def _graph(services: Services) -> Bundle:
    from plait.definitions.definitions import Definitions
    from plait.definitions.uploads import Uploads
    from plait.dialects.graph.bundle import GraphBundle
    from plait.dialects.graph.definition.namespace_policy import NamespacePolicies
    from plait.dialects.graph.definition.type_registry import TypeRegistry

    uploads = Uploads(services.records, services.clock)
    return GraphBundle(
        TypeRegistry(services.records, services.clock, uploads),
        uploads,
        max_payload=services.limits.max_payload,
        policies=NamespacePolicies(services.records, services.clock),
        compiler=lambda: services.executors.languages,
        find=Definitions({}, services.records, services.clock).find,
        models=services.models,
    )


def _refs(services: Services) -> Bundle:
    from plait.definitions.definitions import Definitions
    from plait.dialects.refs.bundle import RefsBundle

    return RefsBundle(
        find=Definitions({}, services.records, services.clock).find,
        scripts=services.executors,
        offers=services.executors,
        limits=services.limits,
        models=services.models,
    )


def _afl(services: Services) -> Bundle:
    from plait.dialects.afl.bundle import AflBundle
    from plait.dialects.afl.stored_handlers import StoredHandlers

    return AflBundle(
        limits=services.limits,
        tell=services.tell,
        scripts=services.executors,
        stored=StoredHandlers(services.records, services.clock),
        observers=services.observers,
        models=services.models,
    )


class Engine(engine.Engine):
    __doc__ = engine.Engine.__doc__

    def make_bundles(self, services: Services) -> Iterable[Bundle | LazyBundle]:
        return bundles(services)

    async def __aenter__(self) -> Self:
        self.executors.mcp.add_own(lambda: own_tools(self))  # a server replaces them with those of its own API
        return await super().__aenter__()

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        await self.executors.mcp.close_own()
        await super().__aexit__(exc_type, exc, tb)

    @property
    def code(self) -> CodeBundle:
        """The `code` dialect with the workflows it has loaded."""
        return cast("CodeBundle", self.bundle("code"))

    @property
    def goals(self) -> GoalsBundle:
        """The `goals` dialect with its catalogs."""
        return cast("GoalsBundle", self.bundle("goals"))

    @property
    def catalog(self) -> StepCatalog:
        """The catalog of steps for planning goals, of the namespace `default`; `.of(...)` returns that of another."""
        return self.goals.catalog

    @property
    def graph(self) -> GraphBundle:
        """The `graph` dialect with its handlers and node types."""
        return cast("GraphBundle", self.bundle("graph"))

    @property
    def node_types(self) -> TypeRegistry:
        """The types of graph nodes: the built-in ones, and those of each namespace."""
        return cast("TypeRegistry", self.graph.node_types)

    @property
    def policies(self) -> NamespacePolicies:
        """What the operators of each namespace allow graphs to do."""
        return cast("NamespacePolicies", self.graph.policies)

    async def agent_policy(self, namespace: str) -> AgentPolicy:
        from plait.agents.services import OpenPolicy

        found = (await self.policies.get(namespace)).agents
        budget = AgentBudget(found.max_tokens_per_day, found.max_cost_usd_per_day)
        allowed = None if found.allowed_tools is None else tuple(found.allowed_tools)
        return OpenPolicy(
            allowed_tools=allowed, auto_apply=found.auto_apply, budget=budget, promote_after=found.promote_after
        )

    @property
    def afl(self) -> AflInterface:
        """The `afl` dialect, in the namespace `default`: handlers, tools of the language, steps and events of runs."""
        from plait.dialects.afl.interface import AflInterface

        return AflInterface(self, cast("AflBundle", self.bundle("afl")))

    @property
    def recordings(self) -> Recordings:
        """Recordings of tool calls as steps, in the namespace `default`; `.of(...)` returns those of another."""
        from plait.dialects.refs.recordings import Recordings

        return Recordings(self)

    if TYPE_CHECKING:  # the engine's own `start`, with the type of a workflow's result

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
            subject: str | None = None,
            pii_fields: Iterable[str] = (),
            by: str = "",
            **queueing: Unpack[Queueing],
        ) -> Handle[T]: ...
        @overload
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
        ) -> Handle[Any]: ...
        async def start(self, definition: Any, input: Any = None, **options: Any) -> Handle[Any]: ...
