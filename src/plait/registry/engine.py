"""The engine with all dialects: what they bring, and what it adds by name."""

from __future__ import annotations

from collections.abc import Coroutine, Iterable
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

from plait import engine
from plait.dialects.code.bundle import CodeBundle
from plait.dialects.code.definition import Workflow
from plait.engine.bundles import LazyBundle
from plait.engine.engine import Services
from plait.engine.handle import Handle
from plait.kernel.bundle import Bundle, Reference, Startable
from plait.kernel.ids import DEFAULT_NAMESPACE

if TYPE_CHECKING:
    from plait.dialects.goals.bundle import GoalsBundle
    from plait.dialects.goals.catalogs.step_catalog import StepCatalog
    from plait.dialects.graph.bundle import GraphBundle
    from plait.dialects.graph.definition.type_registry import TypeRegistry

T = TypeVar("T")


def bundles(services: Services) -> Iterable[Bundle | LazyBundle]:
    """The first one is the dialect of a definition that is only a name."""
    yield CodeBundle(max_payload=services.limits.max_payload)
    yield LazyBundle("goals", "plait.dialects.goals", lambda: _goals(services))
    yield LazyBundle("graph", "plait.dialects.graph", lambda: _graph(services))


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
    )


def _graph(services: Services) -> Bundle:
    from plait.definitions.definitions import Definitions
    from plait.definitions.uploads import Uploads
    from plait.dialects.graph.bundle import GraphBundle
    from plait.dialects.graph.definition.type_registry import TypeRegistry

    uploads = Uploads(services.records, services.clock)
    return GraphBundle(
        TypeRegistry(services.records, services.clock, uploads),
        uploads,
        max_payload=services.limits.max_payload,
        find=Definitions({}, services.records, services.clock).find,
    )


class Engine(engine.Engine):
    __doc__ = engine.Engine.__doc__

    def make_bundles(self, services: Services) -> Iterable[Bundle | LazyBundle]:
        return bundles(services)

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
        """The steps that goals are planned with, of the namespace `default`; `.of(...)` gives another's."""
        return self.goals.catalog

    @property
    def graph(self) -> GraphBundle:
        """The `graph` dialect with its handlers and node types."""
        return cast("GraphBundle", self.bundle("graph"))

    @property
    def node_types(self) -> TypeRegistry:
        """The types that nodes of graphs may have: those that are built in, and those of each namespace."""
        return cast("TypeRegistry", self.graph.node_types)

    if TYPE_CHECKING:  # the engine's own `start`, which gives the result of a workflow its type

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
        ) -> Handle[Any]: ...
        async def start(self, definition: Any, input: Any = None, **options: Any) -> Handle[Any]: ...
